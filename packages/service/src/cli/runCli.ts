import { CommanderError } from 'commander';
import { EngraftApiError, EngraftConnectionError } from '@engraft/client';
import { UsageError } from '../config/config.js';
import { CommandInterrupted } from './commandInterrupted.js';
import { createProgram } from './program.js';
import { withoutSecrets } from '../withoutSecrets.js';

/** Exit statuses that scripts rely on. */
const exit = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** Runs one command to its end and returns the exit status. A failure is one line on standard error. */
export async function runCli(argv: readonly string[]): Promise<number> {
  try {
    const given = withoutEmptyFlags(argv);
    await createProgram(given).parseAsync(given);
    return exit.success;
  } catch (error) {
    // Commander has reported the fault, or has shown the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.success : exit.usage;
    process.stderr.write(`engraft: ${describe(error)}\n`);
    if (process.env['ENGRAFT_LOG_LEVEL'] === 'debug' && error instanceof Error)
      console.error(withoutSecrets(error.stack ?? ''));
    if (error instanceof CommandInterrupted) return exit.interrupted;
    return error instanceof UsageError ? exit.usage : exit.failure;
  }
}

/** Flags without which a command concerns more, or gives away more. */
const bounds = ['project', 'tenant', 'version', 'usd', 'expires-at', 'email', 'role'];

/** "An empty variable counts as unset, and so does an empty flag": scripts pass on what they have. */
function withoutEmptyFlags(argv: readonly string[]): string[] {
  const emptyAt = (at: number): string | undefined =>
    /^--([a-z-]+)=$/.exec(argv[at] ?? '')?.[1] ??
    (argv[at + 1] === '' ? /^--([a-z-]+)$/.exec(argv[at] ?? '')?.[1] : undefined);
  const bound = argv.map((_, at) => emptyAt(at)).find((name) => name !== undefined && bounds.includes(name));
  if (bound !== undefined) throw new UsageError(`--${bound} is empty: give it a value, or leave it out on purpose`);
  return argv.filter((argument, at) => emptyAt(at) === undefined && (argument !== '' || emptyAt(at - 1) === undefined));
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return withoutSecrets(String(error));
  // Connecting to a name with several addresses fails once for each address, without a message of its own.
  if (error instanceof AggregateError && error.message === '') return describe(error.errors[0]);
  const oneLine = withoutSecrets(error.message)
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
  if (error instanceof EngraftConnectionError)
    return `${oneLine}; \`engraft serve\` starts a service, and ENGRAFT_BASE_URL names one elsewhere`;
  if (!(error instanceof EngraftApiError)) return oneLine;
  const where = error.param === null ? '' : ` at ${error.param}`;
  const request = error.request_id === null ? '' : `, ${error.request_id}`;
  return `${oneLine} (${error.code}${where}${request})`;
}
