import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { EngraftClient } from '@engraft/client';

export const program = fileURLToPath(new URL('../../../packages/service/bin/engraft.js', import.meta.url));

/** `engraft serve` on a data folder, to be killed. */
export interface ServiceProcess {
  readonly pid: number;
  readonly url: string;
  readonly client: EngraftClient;
  /** The exit status, once it has ended. */
  readonly exited: Promise<number | null>;
  /** SIGKILL: no handler runs, nothing is written. */
  kill(): Promise<void>;
  /** SIGTERM; returns the exit status. */
  stop(): Promise<number | null>;
}

export function environment(dataFolder: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    PATH,
    HOME,
    ENGRAFT_DATA_DIR: dataFolder,
    ENGRAFT_LOG_LEVEL: process.env['ENGRAFT_TEST_LOG_LEVEL'] ?? 'warn',
  };
}

/**
 * @param onLog is given every line of the log, of level `info` on, instead of standard error.
 * @param settings variables beside those of every test.
 */
export async function startService(
  dataFolder: string,
  onLog?: (line: string) => void,
  settings: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const env = { ...environment(dataFolder), ...settings };
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    env: onLog === undefined ? env : { ...env, ENGRAFT_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', onLog === undefined ? 'inherit' : 'pipe'],
  });
  if (onLog !== undefined && child.stderr !== null) createInterface(child.stderr).on('line', onLog);
  const url = await readUrl(child);
  if (child.pid === undefined) throw new Error('the service was not started');
  const apiKey = (await readFile(path.join(dataFolder, 'default-key'), 'utf8')).trim();
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  return {
    pid: child.pid,
    url,
    client: new EngraftClient({ baseUrl: url, apiKey, maxRetries: 0 }),
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('standard output is not piped');
  const ended = once(child, 'exit').then(() => {
    throw new Error('the service ended before it was ready');
  });
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer];
  const url = /^engraft listening on (\S+)\n/.exec(line.toString())?.[1];
  if (url === undefined) throw new Error(`the service said: ${line.toString()}`);
  return url;
}

/** A command on the data folder; returns what its `--json` prints. */
export async function engraft(dataFolder: string, ...args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, [program, ...args, '--json'], {
    env: environment(dataFolder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(printed) as unknown;
}

/** Kills the database server of the data folder, as the kernel might when memory runs out. */
export async function killDatabase(dataFolder: string): Promise<void> {
  await signalDatabase(dataFolder, 'SIGKILL');
}

export async function signalDatabase(dataFolder: string, signal: NodeJS.Signals): Promise<void> {
  const pidFile = path.join(dataFolder, 'postgres', 'cluster', 'postmaster.pid');
  process.kill(Number((await readFile(pidFile, 'utf8')).split('\n')[0]), signal);
}

/** Process ids of the service's engines, the oldest first. Linux only. */
export async function enginesOf({ pid }: ServiceProcess): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  const pids = children.flatMap((line) =>
    line
      .split(' ')
      .filter((child) => child !== '')
      .map(Number),
  );
  const commands = await Promise.all(pids.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, index) => commands[index]?.includes('process/child.js')).sort((a, b) => a - b);
}
