import type { Command } from 'commander';
import { type ConfigFlags, readConfig, UsageError } from '../../config/config.js';
import type { Roles } from '../../startup/runService.js';
import { addDataOption, CommandFailure } from '../withDatabase.js';

/** `engraft serve`, and its parts for several machines: `engraft api` and `engraft worker`. */
export function addServiceCommands(program: Command): void {
  const serve = program.command('serve').description('run the API and a worker with its engine');
  addAddressOptions(addModelOption(addDataOption(serve))).action((flags: ConfigFlags) =>
    run(flags, { api: true, worker: true }, 'serve'),
  );

  const api = program.command('api').description('run the API alone (needs DATABASE_URL)');
  addAddressOptions(addModelOption(addDataOption(api))).action((flags: ConfigFlags) =>
    run(flags, { api: true, worker: false }, 'api'),
  );

  const worker = program.command('worker').description('run a worker with its engine alone (needs DATABASE_URL)');
  addModelOption(addDataOption(worker)).action((flags: ConfigFlags) =>
    run(flags, { api: false, worker: true }, 'worker'),
  );
}

function addModelOption(command: Command): Command {
  return command.option(
    '--model <model>',
    'a checkpoint folder, or ORG/NAME of a pulled one (ENGRAFT_MODEL_DIR, or the shipped model)',
  );
}

function addAddressOptions(command: Command): Command {
  return command
    .option('--host <host>', 'the address to listen on (ENGRAFT_HOST, or 127.0.0.1)')
    .option('--port <port>', 'the port to listen on (ENGRAFT_PORT, or 8080); 0: any free port');
}

async function run({ model, ...flags }: ConfigFlags, roles: Roles, name: string): Promise<void> {
  const config = readConfig({ ...flags, model: await folderOf(model) });
  if (!(roles.api && roles.worker) && config.databaseUrl === null) {
    throw new UsageError(`engraft ${name} needs DATABASE_URL: an embedded database is for one machine`);
  }
  // Loaded only here: other commands start faster without the web server and the engine.
  const { runService } = await import('../../startup/runService.js');
  const { offerSetUp } = await import('../../startup/offerSetUp.js');
  await runService(config, roles, async (url, db) => {
    process.stdout.write(`engraft listening on ${url}\n`);
    const link = await offerSetUp(db, config.baseUrl ?? url);
    if (link !== null) process.stdout.write(`engraft console: set up its owner within a day at ${link}\n`);
  });
}

/** The folder of the named model, or `undefined` if none is named. */
async function folderOf(model: string | undefined): Promise<string | undefined> {
  if (model === undefined || model === '') return undefined;
  const { findModelFolder } = await import('../../models/modelFolder.js');
  const found = await findModelFolder(model);
  if (found.kind === 'missing') throw new CommandFailure(found.advice);
  return found.folder;
}
