import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { advisoryLocks } from '../advisoryLocks.js';
import { type Cluster, clusterUser, dataDirectoryArgument, openCluster, passwordFile } from './cluster.js';
import { findFreePort, findPostmaster, type StartedServer, startPostmaster, stopPostmaster } from './postmaster.js';

/**
 * The PostgreSQL server of a data folder, shared by every process that works on the folder (the service, and
 * commands beside it). Each one holds a session with a shared advisory lock for as long as it needs the server;
 * the one that can take that lock exclusively is the last, and stops the server. Sessions end with their
 * processes, so a killed service leaves nothing to clean up: the next one finds its server and goes on with it.
 */
export interface EmbeddedPostgres {
  /** Holds the password: not for logs. The same for as long as this attachment lives. */
  readonly url: string;
  /** Lets go of the server, and stops it when nobody else uses it. */
  release(): Promise<void>;
}

export interface AttachOptions {
  /** Called when the server was lost and could not be brought back at the same address. */
  readonly onLost?: (error: Error) => void;
}

/** Recovery after a power cut reads the whole log since the last checkpoint. */
const attach_timeout_ms = 120_000;
/** How long a server that ends at once is tried again: a killed one's children may take a moment to notice. */
const failing_start_ms = 5_000;

export async function attachEmbeddedPostgres(
  data_folder: string,
  options: AttachOptions = {},
): Promise<EmbeddedPostgres> {
  const cluster = await openCluster(data_folder);
  let released = false;
  let session = Promise.resolve(await openSession(cluster, null));
  const { port } = await session;

  const watch = ({ client }: Session): void => {
    client.once('end', () => {
      if (released) return;
      session = restore();
      session.catch((error: unknown) => options.onLost?.(error instanceof Error ? error : new Error(String(error))));
    });
  };
  const restore = async (): Promise<Session> => {
    const restored = await openSession(cluster, port);
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
      await closeSession(cluster, await session);
    },
  };
}

interface Session {
  readonly client: pg.Client;
  readonly port: number;
}

/** Finds or starts the server, and opens a session that keeps it running. `wanted_port` null: any free one. */
async function openSession(cluster: Cluster, wanted_port: number | null): Promise<Session> {
  const deadline = Date.now() + attach_timeout_ms;
  let failing_since: number | null = null;
  let started: StartedServer | null = null;
  while (Date.now() < deadline) {
    const postmaster = await findPostmaster(cluster);
    if (postmaster !== null) {
      const client = await tryConnect(cluster, postmaster.port).catch(async (error: unknown) => {
        // One that was started here, and that nobody can use, is not left running.
        if (started !== null) await stopPostmaster(cluster, postmaster);
        throw error;
      });
      if (client !== null) return { client, port: postmaster.port };
    } else if (started === null) {
      started = await startPostmaster(cluster, wanted_port ?? (await findFreePort()));
    } else {
      const complaint = await Promise.race([started.ended, sleep(0, null)]);
      if (complaint !== null) {
        started = null;
        failing_since ??= Date.now();
        if (Date.now() - failing_since > failing_start_ms) {
          const why = lastLine(complaint).replace(dataDirectoryArgument(cluster), cluster.folder);
          throw new Error(`the embedded PostgreSQL does not start: ${why} (see ${cluster.log_file})`);
        }
        await sleep(200);
      }
    }
    await sleep(20);
  }
  throw new Error(`the embedded PostgreSQL did not become ready in time (see ${cluster.log_file})`);
}

/** `null` while the server is starting, recovering or shutting down. */
async function tryConnect(cluster: Cluster, port: number): Promise<pg.Client | null> {
  const client = new pg.Client({
    connectionString: databaseUrl(cluster, port),
    application_name: 'engraft-attachment',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // Waits for a process that is about to stop the server, whose stopping then ends this session.
    await client.query('SELECT pg_advisory_lock_shared($1)', [advisoryLocks.users]);
    return client;
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

/** Not reachable yet or any more; cannot connect now; shut down by the administrator, after a crash, or cut off. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', '57P01', '57P02'].includes(code) ||
    error.message.startsWith('Connection terminated')
  );
}

async function closeSession(cluster: Cluster, { client, port }: Session): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [advisoryLocks.users]);
    const { rows } = await client.query<{ last: boolean }>('SELECT pg_try_advisory_lock($1) AS last', [
      advisoryLocks.users,
    ]);
    if (rows[0]?.last === true) {
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

function lastLine(text: string): string {
  return text.split('\n').at(-1) ?? '';
}
