import type { Command } from 'commander';
import { type ConfigFlags, readConfig, UsageError } from '../../config/config.js';
import type { Roles } from '../../processes/runService.js';
import { addDataOption } from '../withDatabase.js';

/** `engraft serve`, and its parts for several machines: `engraft api` and `engraft worker`. */
export function addServiceCommands(program: Command): void {
  const serve = program.command('serve').description('API, worker and engine in one process');
  addAddressOptions(addDataOption(serve)).action((flags: ConfigFlags) =>
    run(flags, { api: true, worker: true }, 'serve'),
  );

  const api = program.command('api').description('the API alone (needs DATABASE_URL)');
  addAddressOptions(addDataOption(api)).action((flags: ConfigFlags) => run(flags, { api: true, worker: false }, 'api'));

  const worker = program.command('worker').description('a worker and its engine alone (needs DATABASE_URL)');
  addDataOption(worker).action((flags: ConfigFlags) => run(flags, { api: false, worker: true }, 'worker'));
}

function addAddressOptions(command: Command): Command {
  return command
    .option('--host <host>', 'where to listen (ENGRAFT_HOST, or 127.0.0.1)')
    .option('--port <port>', 'where to listen (ENGRAFT_PORT, or 8080); 0: any free port');
}

async function run(flags: ConfigFlags, roles: Roles, name: string): Promise<void> {
  const config = readConfig(flags);
  if (!(roles.api && roles.worker) && config.database_url === null) {
    throw new UsageError(`engraft ${name} needs DATABASE_URL: an embedded database is for one machine`);
  }
  // Only here: other commands start faster without the web server and the engine.
  const { runService } = await import('../../processes/runService.js');
  await runService(config, roles, (url) => process.stdout.write(`engraft listening on ${url}\n`));
}
