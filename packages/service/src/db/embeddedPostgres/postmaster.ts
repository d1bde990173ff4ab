import { spawn } from 'node:child_process';
import { open, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileLock } from '../../fileLock/fileLock.js';
import { type Cluster, dataDirectoryArgument, serverEnvironment } from './cluster.js';

/** A live server on this cluster, whoever started it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** Reads `postmaster.pid`: this cluster's last server, which may be gone. `null` without such a file. */
export async function readPostmasterFile(cluster: Cluster): Promise<Postmaster | null> {
  const text = await readFile(pidFile(cluster), 'utf8').catch(() => '');
  // Lines: process id, data directory, start time, port, …
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 ? { pid, port } : null;
}

/**
 * The server that runs on this cluster as a process visible from here, or `null`. A process id from another container
 * means nothing here; the lock tells whether any server runs.
 */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | null> {
  const postmaster = await readPostmasterFile(cluster);
  const isOurs = postmaster !== null && isAlive(postmaster.pid) && (await worksIn(postmaster.pid, cluster.folder));
  return isOurs ? postmaster : null;
}

/**
 * Removes a `postmaster.pid` that outlived its server and whose process id belongs to a stranger, since PostgreSQL
 * would refuse to start beside it. (It clears a dead id by itself.) Only the holder of the lock may call this.
 */
async function removeStalePidFile(cluster: Cluster): Promise<void> {
  const postmaster = await readPostmasterFile(cluster);
  if (postmaster === null || !isAlive(postmaster.pid) || (await worksIn(postmaster.pid, cluster.folder))) return;
  await rm(pidFile(cluster), { force: true });
}

function pidFile(cluster: Cluster): string {
  return path.join(cluster.folder, 'postmaster.pid');
}

/** Whether the process has `folder` as its working folder, as a postmaster does. A zombie has none. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  // A process that we may not look at belongs to another account than the server's.
  const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
  return cwd === (await realpath(folder));
}

/** A server that this process started. */
export interface StartedServer {
  /** Resolves with what the log says once the process has ended. */
  readonly ended: Promise<string>;
}

/**
 * Starts a server in a process group of its own, so that a Ctrl-C meant for the service leaves it to us to stop. It
 * inherits the caller's lock, so that the lock is held as long as any process of the server lives.
 */
export async function startPostmaster(cluster: Cluster, port: number, lock: FileLock): Promise<StartedServer> {
  await removeStalePidFile(cluster);
  const log = await open(cluster.logFile, 'a', 0o600);
  const logStart = (await log.stat()).size;
  const settings = Object.entries(serverSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  try {
    const child = spawn(
      cluster.binaries.postgres,
      ['-D', dataDirectoryArgument(cluster), '-p', String(port), ...settings],
      {
        cwd: cluster.folder,
        env: serverEnvironment,
        stdio: ['ignore', log.fd, log.fd, lock.fd],
        detached: true,
        ...cluster.account,
      },
    );
    child.unref();
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', () => void readFrom(cluster.logFile, logStart).then(resolve, () => resolve('')));
    });
    return { ended };
  } finally {
    await log.close();
  }
}

const serverSettings = {
  // The loopback address with a random password, since the path of a unix socket may have at most 107 bytes.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 100,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // The text or row of a failing statement could hold a passage or a message.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
} as const;

async function readFrom(file: string, start: number): Promise<string> {
  return (await readFile(file)).subarray(start).toString('utf8').trim();
}

const stopTimeoutMs = 30_000;

/** Fast shutdown: open transactions are rolled back, committed ones are written, and then the process ends. */
export async function stopPostmaster(cluster: Cluster, postmaster: Postmaster): Promise<void> {
  signal(postmaster.pid, 'SIGINT');
  const deadlineMs = performance.now() + stopTimeoutMs;
  while (isAlive(postmaster.pid) && (await worksIn(postmaster.pid, cluster.folder))) {
    if (performance.now() > deadlineMs) signal(postmaster.pid, 'SIGQUIT');
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

/** Whether a process with this id exists, whoever owns it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
