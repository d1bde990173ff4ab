import type { Command } from 'commander';
import { EngraftClient } from '@engraft/client';
import { readConfig } from '../../config/config.js';
import { readDefaultKey } from '../../startup/defaultKey.js';
import { CommandInterrupted } from '../commandInterrupted.js';
import { prepareModel } from '../quickstart/chosenModel.js';
import { startService, type StartedService } from '../quickstart/ownProgram.js';
import { readSample } from '../quickstart/sample.js';
import { tellStory } from '../quickstart/story.js';
import { untilInterrupted } from '../untilInterrupted.js';
import { addDataOption, CommandFailure, type DataOptions } from '../withDatabase.js';

interface QuickstartOptions extends DataOptions {
  readonly model?: string;
}

/** `engraft quickstart`: from nothing to an answer out of the weights. Its service lives as long as the command. */
export function addQuickstartCommand(program: Command): void {
  addDataOption(
    program
      .command('quickstart')
      .description('start a service, have it learn a sample passage, and ask about it before and after')
      .option('--model <model>', 'a checkpoint folder, a GGUF file, or ORG/NAME (the shipped model)'),
  ).action(quickstart);
}

async function quickstart(options: QuickstartOptions): Promise<void> {
  const { dataFolder } = readConfig(options);
  const sample = await readSample();
  let stopped = 'no service was started';
  let goingOn = '';
  const failure = (name: NodeJS.Signals): Error => {
    const left = `${stopped}; what is in ${dataFolder} remains${goingOn}`;
    if (name === 'SIGINT') return new CommandInterrupted(`interrupted: ${left}`);
    return new CommandFailure(`stopped by ${name}: ${left}`);
  };
  await untilInterrupted(async (signal) => {
    const model = options.model === undefined ? null : await prepareModel(options.model, dataFolder, signal);
    stopped = 'the service that this command had started is stopped';
    const onLearning = (jobId: string | null): void => {
      goingOn = jobId === null ? '' : `, and ${jobId} goes on when a service is started with it`;
    };
    const service = await start(dataFolder, model, signal, failure);
    try {
      await tellStory(await openClient(dataFolder, service), sample, { signal, onLearning });
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new CommandFailure(`${what}; ${advice}`);
    } finally {
      await service.stop();
    }
    process.stdout.write(nextSteps(model));
  }, failure);
}

const advice = 'the lines above are the log, and `npx engraft doctor` checks the installation';

async function start(
  dataFolder: string,
  model: string | null,
  signal: AbortSignal,
  failure: (name: NodeJS.Signals) => Error,
): Promise<StartedService> {
  process.stdout.write('  … Starting PostgreSQL, engine and API');
  const startedAtMs = performance.now();
  const served = model === null ? [] : ['--model', model];
  const begun = await startService(['--data', dataFolder, ...served], signal);
  process.stdout.write(process.stdout.isTTY ? '\r\u001b[K' : '\n');
  if (begun.kind === 'interrupted') throw failure(begun.by);
  if (begun.kind === 'ended') throw new CommandFailure(`the service did not start; ${advice}`);
  const { service } = begun;
  const seconds = (performance.now() - startedAtMs) / 1000;
  process.stdout.write(`  ✓ Service at ${service.url} (${seconds.toFixed(1)} s)\n`);
  return service;
}

/** A client of the service that was started here, whatever `ENGRAFT_BASE_URL` and `ENGRAFT_API_KEY` say of another. */
async function openClient(dataFolder: string, { url }: StartedService): Promise<EngraftClient> {
  const apiKey = await readDefaultKey(dataFolder);
  if (apiKey !== null) return new EngraftClient({ baseUrl: url, apiKey });
  throw new Error(`${dataFolder} has no key of a first start: set ENGRAFT_DATA_DIR to an empty folder`);
}

function nextSteps(model: string | null): string {
  return `
Next:
  1. Start the service and leave it running:     npx engraft serve${model === null ? '' : ` --model ${model}`}
  2. In another terminal, learn a text of yours: npx engraft learn my-passage.txt --subject demo
     (docs/models.md says what kind of passage the shipped model can learn)
  3. Ask about it:                               npx engraft ask "..." --subject demo
     and compare:                                npx engraft ask "..." --subject demo --version base
  Or do it in a browser: the start in 1. prints a link that sets up the console, at http://127.0.0.1:8080/console

`;
}
