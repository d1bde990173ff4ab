import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database } from './schema.js';

export interface DatabaseOptions {
  readonly maxConnections: number;
  /**
   * How long one query or transaction may have a connection, which is ended then: a server that vanished, or that a
   * firewall forgot, never says so. Without it there is no such limit.
   */
  readonly held_ms_max?: number;
}

/** How long a request waits for a connection before the database counts as unavailable. */
const connection_timeout_ms = 5_000;

/** After so long without a word the operating system asks whether the server is still there. */
const silence_ms = 10_000;

/** How long a transaction may wait for its process; one that was stopped must not hold a project's balance for good. */
const idle_in_transaction_ms = 60_000;

/**
 * A pool of connections. Opening never fails: an unreachable server shows at the first query.
 * Close with `db.destroy()`.
 */
export function openDatabase(url: string, options: DatabaseOptions): Kysely<Database> {
  return openCountedDatabase(url, options).db;
}

/** A pool's connections at the moment. */
export interface PoolCounts {
  /** Connections, those that are being opened among them. */
  readonly open: number;
  readonly idle: number;
  /** Queries and transactions that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

export interface CountedDatabase {
  readonly db: Kysely<Database>;
  readonly counts: () => PoolCounts;
}

/** The same, for those who watch its connections. */
export function openCountedDatabase(url: string, { maxConnections, held_ms_max }: DatabaseOptions): CountedDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connection_timeout_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: silence_ms,
    idle_in_transaction_session_timeout: idle_in_transaction_ms,
    types: columnTypes(),
  });
  // A server that goes away also ends connections on which no query runs: idle ones, and those of a transaction that
  // is busy elsewhere. The next query on them reports it; unheard, the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (held_ms_max !== undefined) endConnectionsHeldFor(held_ms_max, pool);
  return {
    db: new Kysely<Database>({ dialect: new PostgresDialect({ pool }) }),
    counts: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount, max: maxConnections }),
  };
}

/** Whoever waits for an answer then learns that the connection was terminated, and the next query gets another. */
function endConnectionsHeldFor(held_ms: number, pool: pg.Pool): void {
  const timers = new WeakMap<pg.PoolClient, NodeJS.Timeout>();
  pool.on('acquire', (client) => timers.set(client, setTimeout(() => void client.end(), held_ms).unref()));
  pool.on('release', (_error, client) => clearTimeout(timers.get(client)));
}

function columnTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, parseSafeInteger);
  return types;
}

/** A bigint as a number. Throws rather than round: a rounded amount of money would be a silent error. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint column holds more than 2^53');
  return value;
}
