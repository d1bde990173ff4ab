import type { Kysely } from 'kysely';
import type { Config } from '../config/config.js';
import { openCountedDatabase, openDatabase, type DatabaseOptions, type PoolCounts } from '../db/database.js';
import { attachEmbeddedPostgres, hasCluster, ownConnection } from '../db/embeddedPostgres/index.js';
import { migrate } from '../db/migrate.js';
import type { Database } from '../db/schema.js';
import { prepareServiceLogin, prepareServiceRole, type ServiceAccess } from '../db/serviceRole/serviceRole.js';
import { makeDataFolder } from './dataFolder.js';

/** The open data of one service: its folder, and its database at the newest schema. */
export interface Installation extends Pick<ServiceAccess, 'unrestrictedBecause'> {
  readonly db: Kysely<Database>;
  /** The connections of `db`. */
  readonly connections: () => PoolCounts;
  /**
   * A connection beside those of `db`, for code that watches the database. It answers even while the others are all
   * busy.
   */
  readonly watching: Kysely<Database>;
  close(): Promise<void>;
}

export interface InstallationOptions {
  readonly maxConnections: number;
  /** See `DatabaseOptions`. Commands may run longer queries. */
  readonly maxHeldMs?: number;
  /** The embedded database was lost and did not come back. */
  readonly onLost?: (error: Error) => void;
}

/** Whether there is a database to open. A database elsewhere counts as there; opening it says if it is not. */
export async function hasDatabase({
  dataFolder,
  databaseUrl,
}: Pick<Config, 'dataFolder' | 'databaseUrl'>): Promise<boolean> {
  return databaseUrl !== null || hasCluster(dataFolder);
}

/**
 * Opens what the configuration names, and makes it if it is missing. Commands and services may have the same
 * installation open at the same time.
 */
export async function openInstallation(
  { dataFolder, databaseUrl }: Pick<Config, 'dataFolder' | 'databaseUrl'>,
  { maxConnections, maxHeldMs, onLost }: InstallationOptions,
): Promise<Installation> {
  const options = { maxConnections, ...(maxHeldMs === undefined ? {} : { maxHeldMs }) };
  if (databaseUrl !== null) {
    const { url, unrestrictedBecause } = await migrate(databaseUrl)
      .then(() => prepareServiceRole(databaseUrl))
      .catch(namingTheVariable);
    return { ...openPools(url, options), unrestrictedBecause };
  }
  await makeDataFolder(dataFolder);
  const server = await attachEmbeddedPostgres(dataFolder, onLost === undefined ? {} : { onLost });
  try {
    const url = ownConnection(server.url);
    await migrate(url);
    const pools = openPools(await prepareServiceLogin(url), options);
    const close = async (): Promise<void> => {
      await pools.close();
      await server.release();
    };
    return { ...pools, unrestrictedBecause: null, close };
  } catch (error) {
    await server.release();
    throw error;
  }
}

function openPools(url: string, options: DatabaseOptions): Omit<Installation, 'unrestrictedBecause'> {
  const { db, counts } = openCountedDatabase(url, options);
  const watching = openDatabase(url, { ...options, maxConnections: 1 });
  const close = async (): Promise<void> => {
    await Promise.all([db.destroy(), watching.destroy()]);
  };
  return { db, connections: counts, watching, close };
}

/** Names the variable, never the URL, which holds a password, and the other settings of the connection. */
function namingTheVariable(error: unknown): never {
  const first: unknown = error instanceof AggregateError && error.message === '' ? error.errors[0] : error;
  const why = first instanceof Error ? first.message : String(first);
  const others = connectionVariables.filter((name) => (process.env[name] ?? '') !== '');
  const named = ['DATABASE_URL', ...others].join(', ');
  throw new Error(`the database of ${named} cannot be used: ${why}`, { cause: error });
}

/** PostgreSQL's own variables, which have their usual meaning for `DATABASE_URL`. */
const connectionVariables = ['PGUSER', 'PGPASSWORD', 'PGDATABASE', 'PGSSLMODE', 'PGSSLNEGOTIATION', 'PGOPTIONS'];
