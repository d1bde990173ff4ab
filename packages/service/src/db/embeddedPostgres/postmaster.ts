import { spawn } from 'node:child_process';
import { open, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, dataDirectoryArgument, isAlive, serverEnvironment } from './cluster.js';

/** A live server on this cluster, whoever started it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/**
 * The server that runs on this cluster now, or `null`. The file `postmaster.pid` outlives a killed server, and
 * its process id may since belong to a stranger: then the file is removed, because PostgreSQL would refuse to
 * start beside it. (A dead id PostgreSQL clears by itself.)
 */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | null> {
  const pid_file = path.join(cluster.folder, 'postmaster.pid');
  const text = await readFile(pid_file, 'utf8').catch(() => '');
  // Lines: process id, data directory, start time, port, …
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null;
  if (await worksIn(pid, cluster.folder)) return { pid, port };
  // Unless another server has written its own file meanwhile.
  if ((await readFile(pid_file, 'utf8').catch(() => '')) === text) await rm(pid_file, { force: true });
  return null;
}

/** Whether the process has `folder` as its working folder, as a postmaster does. A zombie has none. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  // What we may not look at is of another account than the server's.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return cwd === (await realpath(folder));
}

/** A server that this process started. */
export interface StartedServer {
  /** Resolves with what the log says when the process has ended. */
  readonly ended: Promise<string>;
}

/** Starts a server in a process group of its own, so that a Ctrl-C meant for the service leaves it to us to stop. */
export async function startPostmaster(cluster: Cluster, port: number): Promise<StartedServer> {
  const log = await open(cluster.log_file, 'a', 0o600);
  const log_start = (await log.stat()).size;
  const settings = Object.entries(serverSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  try {
    const child = spawn(
      cluster.binaries.postgres,
      ['-D', dataDirectoryArgument(cluster), '-p', String(port), ...settings],
      {
        cwd: cluster.folder,
        env: serverEnvironment,
        stdio: ['ignore', log.fd, log.fd],
        detached: true,
        ...cluster.account,
      },
    );
    child.unref();
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', () => void readFrom(cluster.log_file, log_start).then(resolve, () => resolve('')));
    });
    return { ended };
  } finally {
    await log.close();
  }
}

const serverSettings = {
  // The loopback with a random password: the path of a unix socket may be at most 107 bytes long.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // A failing statement's text or row could hold a passage or a message.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
} as const;

async function readFrom(file: string, start: number): Promise<string> {
  return (await readFile(file)).subarray(start).toString('utf8').trim();
}

const stop_timeout_ms = 30_000;

/** Fast shutdown: open transactions are rolled back, everything committed is written; then the process is gone. */
export async function stopPostmaster(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  signal(postmaster.pid, 'SIGINT');
  const deadline = Date.now() + stop_timeout_ms;
  while (isAlive(postmaster.pid) && (await worksIn(postmaster.pid, cluster.folder))) {
    if (Date.now() > deadline) signal(postmaster.pid, 'SIGQUIT');
    await sleep(20);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** A port that nobody listens on at this moment. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a listening socket has no port');
  return address.port;
}
