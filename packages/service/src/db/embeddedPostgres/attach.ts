import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type FileLock, tryLockFile } from '../../fileLock/fileLock.js';
import { advisoryLocks } from '../advisoryLocks.js';
import { stopWhenAbandoned } from './abandonedServer.js';
import {
  type Cluster,
  clusterUser,
  dataDirectoryArgument,
  openCluster,
  openOrMakeCluster,
  passwordFile,
} from './cluster.js';
import { ownConnection } from './ownConnection.js';
import {
  findFreePort,
  findPostmaster,
  readPostmasterFile,
  type StartedServer,
  startPostmaster,
  stopPostmaster,
} from './postmaster.js';

/**
 * The PostgreSQL server of a data folder, shared by every process that works on the folder (the service, and commands
 * beside it).
 *
 * The server holds a lock on `<data>/postgres.lock`, inherited from the process that starts it, so that there is never
 * a second server. Process ids would not tell, since containers that share the folder have ids of their own. Each user
 * of the server holds a session with a shared advisory lock while it needs the server. The user that can take that lock
 * exclusively is the last, and stops the server.
 *
 * Sessions end with their processes, so a killed service leaves nothing to clean up. The next one finds its server and
 * goes on with it. If none comes within a minute, the server stops by itself.
 */
export interface EmbeddedPostgres {
  /** Holds the password, so it must not be logged. It stays the same while this attachment lives. */
  readonly url: string;
  /** Lets go of the server, and stops it if nobody else uses it. */
  release(): Promise<void>;
}

export interface AttachOptions {
  /** Called when the server was lost and could not be brought back at the same address. */
  readonly onLost?: (error: Error) => void;
  /** How long the server outlives its last user if that was killed: long enough to start the service again. */
  readonly abandonedAfterMs?: number;
}

const defaultAbandonedAfterMs = 60_000;

/** Recovery after a power cut reads the whole log since the last checkpoint. */
const attachTimeoutMs = 120_000;
/** How long to retry a server that ends at once. The children of a killed one may take a moment to notice. */
const failingStartMs = 5_000;
/** How long a server that is no process of ours may refuse connections. It has just begun to stop, or is elsewhere. */
const unreachableMs = 5_000;
const pollMs = 20;

export async function attachEmbeddedPostgres(
  dataFolder: string,
  options: AttachOptions = {},
): Promise<EmbeddedPostgres> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  let released = false;
  let session = Promise.resolve(await openSession(dataFolder, null));
  const { cluster, port } = await session;
  const { abandonedAfterMs = defaultAbandonedAfterMs } = options;

  const watch = ({ client }: Session): void => {
    stopWhenAbandoned(databaseUrl(cluster, port), abandonedAfterMs);
    client.once('end', () => {
      if (released) return;
      session = restore();
      session.catch((error: unknown) => options.onLost?.(error instanceof Error ? error : new Error(String(error))));
    });
  };
  const restore = async (): Promise<Session> => {
    const restored = await openSession(dataFolder, port);
    if (restored.port !== port) throw new Error('the embedded PostgreSQL came back on another port');
    watch(restored);
    return restored;
  };
  watch(await session);

  return {
    url: databaseUrl(cluster, port),
    release: async () => {
      if (released) return;
      released = true;
      await closeSession(await session);
    },
  };
}

interface Session {
  readonly cluster: Cluster;
  readonly client: pg.Client;
  readonly port: number;
}

/** Finds or starts the server, and opens a session that keeps it running. `wantedPort` is `null` for any free port. */
async function openSession(dataFolder: string, wantedPort: number | null): Promise<Session> {
  const lockFile = path.join(dataFolder, 'postgres.lock');
  const deadlineMs = performance.now() + attachTimeoutMs;
  const start = new ServerStart();
  let refusedSinceMs: number | null = null;
  while (performance.now() < deadlineMs) {
    const lock = await tryLockFile(lockFile);
    if (lock !== null) {
      try {
        const session = await start.underLock(dataFolder, wantedPort, lock);
        if (session !== null) return session;
      } finally {
        await lock.release();
      }
    } else {
      const found = await joinServer(dataFolder, start.isUnderWay);
      if (typeof found === 'object') return found;
      // The server started here may not have written its port yet.
      const isRefused = found === 'refused' && !start.isUnderWay;
      refusedSinceMs = isRefused ? (refusedSinceMs ?? performance.now()) : null;
      if (refusedSinceMs !== null && performance.now() - refusedSinceMs > unreachableMs) {
        throw new Error(
          `the database of ${dataFolder} runs where it cannot be reached from here, in another container perhaps: ` +
            'run this command there, or stop what uses the folder, or set DATABASE_URL for both',
        );
      }
    }
    await sleep(pollMs);
  }
  throw new Error(
    `the embedded PostgreSQL of ${dataFolder} did not become ready in time (see ${dataFolder}/logs/postgres.log)`,
  );
}

/** The attempts of one process to start the server. */
class ServerStart {
  #started: StartedServer | null = null;
  #failingSinceMs: number | null = null;

  /** Whether the server that holds the lock now may be the one started here. */
  get isUnderWay(): boolean {
    return this.#started !== null;
  }

  /**
   * Starts the server. Nobody else runs or starts one now, on this machine or in any container. Returns `null` if it
   * was started.
   * @throws Error if it has been ending at once for too long
   */
  async underLock(dataFolder: string, wantedPort: number | null, lock: FileLock): Promise<Session | null> {
    const cluster = await openOrMakeCluster(dataFolder, lock);
    if (this.#started !== null) await this.#failed(cluster, this.#started);
    // Earlier releases started their server without the lock.
    const running = await findPostmaster(cluster);
    if (running !== null) return tryConnect(cluster, running.port);
    this.#started = await startPostmaster(cluster, wantedPort ?? (await findFreePort()), lock);
    return null;
  }

  async #failed(cluster: Cluster, { ended }: StartedServer): Promise<void> {
    this.#started = null;
    this.#failingSinceMs ??= performance.now();
    if (performance.now() - this.#failingSinceMs < failingStartMs) return sleep(10 * pollMs);
    const why = lastWords(await ended).replace(dataDirectoryArgument(cluster), cluster.folder);
    throw new Error(`the embedded PostgreSQL does not start: ${why} (see ${cluster.logFile})`);
  }
}

/** `refused` by an address at which no process visible from here listens. */
type NoSession = 'not_yet' | 'refused';

/** Opens a session on the running server. `isOwn` says whether it was started here. */
async function joinServer(dataFolder: string, isOwn: boolean): Promise<Session | NoSession> {
  const cluster = await openCluster(dataFolder);
  const postmaster = cluster === null ? null : await readPostmasterFile(cluster);
  if (cluster === null || postmaster === null) return 'not_yet';
  const isElsewhere = (await findPostmaster(cluster)) === null;
  try {
    const session = await tryConnect(cluster, postmaster.port);
    return session ?? (isElsewhere ? 'refused' : 'not_yet');
  } catch (error) {
    // The port may belong to another server here.
    if (isElsewhere) return 'refused';
    // A server started here that nobody can use is not left running.
    if (isOwn) await stopPostmaster(cluster, postmaster);
    throw error;
  }
}

/** `null` while the server is starting, recovering or shutting down. */
async function tryConnect(cluster: Cluster, port: number): Promise<Session | null> {
  const client = new pg.Client({
    connectionString: ownConnection(databaseUrl(cluster, port), 'engraft-attachment'),
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Waits for a process that is about to stop the server. Then the stop ends this session.
    await client.query('SELECT pg_advisory_lock_shared($1)', [advisoryLocks.users]);
    return { cluster, client, port };
  } catch (error) {
    await client.end().catch(() => undefined);
    if (isTransient(error)) return null;
    if (error instanceof pg.DatabaseError && error.code === '28P01') {
      throw new Error(`${passwordFile(cluster)} does not hold the password of the database beside it`, {
        cause: error,
      });
    }
    throw error;
  }
}

/** Not reachable yet or any more, cannot connect now, shut down by the administrator, after a crash, or cut off. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', '57P01', '57P02'].includes(code) ||
    error.message.startsWith('Connection terminated')
  );
}

async function closeSession({ cluster, client, port }: Session): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [advisoryLocks.users]);
    const { rows } = await client.query<{ last: boolean }>('SELECT pg_try_advisory_lock($1) AS last', [
      advisoryLocks.users,
    ]);
    if (rows[0]?.last === true) {
      // A server that only another container can signal is left to its last user there.
      const postmaster = await findPostmaster(cluster);
      if (postmaster?.port === port) await stopPostmaster(cluster, postmaster);
    }
  } catch (error) {
    // A server that is already gone needs no stopping.
    if (!isTransient(error)) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function databaseUrl(cluster: Cluster, port: number): string {
  return `postgres://${clusterUser}:${cluster.password}@127.0.0.1:${port}/postgres`;
}

/** The last words of a server: what ended it, where it says so, and not what it did after that. */
function lastWords(text: string): string {
  const lines = text.split('\n');
  return lines.findLast((line) => /\b(FATAL|PANIC): /.test(line)) ?? lines.at(-1) ?? '';
}
