import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Database } from './schema.js';

export interface DatabaseOptions {
  readonly maxConnections: number;
  /**
   * The longest that one query or transaction may hold a connection, which is then ended. A server that vanished, or
   * that a firewall forgot, never says so. There is no limit if this is left out.
   */
  readonly maxHeldMs?: number;
}

/** How long making a connection may take, and how long a request waits for one that is free. */
const connectionTimeoutMs = 5_000;

/** After this much silence the operating system asks whether the server is still there. */
const silenceMs = 10_000;

/**
 * How long a transaction may wait for its process. A process that was stopped must not hold a project's balance for
 * good.
 */
const idleInTransactionMs = 60_000;

/**
 * Opens a pool of connections. Opening never fails; an unreachable server shows at the first query. Close it with
 * `db.destroy()`.
 */
export function openDatabase(url: string, options: DatabaseOptions): Kysely<Database> {
  return openCountedDatabase(url, options).db;
}

/** The current connections of a pool. */
export interface PoolCounts {
  /** Connections, including those being opened. */
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

/** Does the same for callers who watch its connections. */
export function openCountedDatabase(url: string, { maxConnections, maxHeldMs }: DatabaseOptions): CountedDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectionTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: silenceMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    types: columnTypes(),
  });
  // A server that goes away also ends connections on which no query runs: idle ones, and those of a transaction that is
  // busy elsewhere. The next query on them reports it. Without a listener, the event would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  if (maxHeldMs !== undefined) endConnectionsHeldFor(maxHeldMs, pool);
  return {
    db: new Kysely<Database>({
      dialect: new PostgresDialect({ pool: { connect: () => takeConnection(pool), end: () => pool.end() } }),
    }),
    counts: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount, max: maxConnections }),
  };
}

/** On a busy machine others may become free while a new one is being made. The pool does not look for them again. */
async function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (pool.idleCount === 0) throw error;
    return pool.connect();
  }
}

/** A waiting query then learns that the connection was terminated, and the next one gets another connection. */
function endConnectionsHeldFor(heldMs: number, pool: pg.Pool): void {
  const timers = new WeakMap<pg.PoolClient, NodeJS.Timeout>();
  pool.on('acquire', (client) => timers.set(client, setTimeout(() => void client.end(), heldMs).unref()));
  pool.on('release', (_error, client) => clearTimeout(timers.get(client)));
}

function columnTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, parseSafeInteger);
  return types;
}

/** Reads a bigint as a number. Throws rather than round, since a rounded amount of money would be a silent error. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a bigint column holds more than 2^53');
  return value;
}
