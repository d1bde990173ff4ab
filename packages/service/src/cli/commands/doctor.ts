import type { Command } from 'commander';
import { pino } from 'pino';
import { type Config, readConfig } from '../../config/config.js';
import { examine, type Examined } from '../../doctor/examine.js';
import { hasDatabase, openInstallation } from '../../startup/installation.js';
import { print, table } from '../output.js';
import { addPrintOptions, CommandFailure, type PrintOptions } from '../withDatabase.js';

export function addDoctorCommand(program: Command): void {
  addPrintOptions(
    program
      .command('doctor')
      .description('check Node, data folder, database, archives, model, engine, bucket, teacher and traces'),
  ).action(async (options: PrintOptions) => {
    const checks = await examine(opened(readConfig(options)));
    const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name);
    print(
      options,
      { ok: wrong.length === 0, checks },
      table(checks.map(({ name, ok, detail }) => [ok ? 'ok' : 'WRONG', name, detail])),
    );
    if (wrong.length > 0) throw new CommandFailure(`something is wrong with: ${wrong.join(', ')}`);
  });
}

/** Opens each part for its examination. The engine is loaded only here, so that other commands start faster. */
function opened(config: Config): Examined {
  return {
    config,
    hasArchives: true,
    withDatabase: async (examineDatabase) => {
      if (!(await hasDatabase(config))) return null;
      const installation = await openInstallation(config, { maxConnections: 1 });
      try {
        return await examineDatabase(installation);
      } finally {
        await installation.close();
      }
    },
    contextLength: async () => {
      const { loadPromptMeter } = await import('../../startup/model.js');
      return (await loadPromptMeter(config.modelFolder)).contextLength;
    },
    withEngine: async (examineEngine) => {
      const { loadServing } = await import('../../startup/model.js');
      const loaded = await loadServing(config, pino({ level: 'silent' }));
      try {
        return await examineEngine(loaded);
      } finally {
        await loaded.engine.close();
      }
    },
  };
}
