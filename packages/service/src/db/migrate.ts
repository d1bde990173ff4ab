import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { advisoryLocks } from './advisoryLocks.js';

/** Where the build puts the numbered SQL files. */
export const migrationsFolder = fileURLToPath(new URL('./migrations/', import.meta.url));

interface Migration {
  /** `0001_initial`; the number gives the order. */
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

/** A host that takes connections and says nothing is no database. */
const connection_timeout_ms = 10_000;

/** The database and this build of the service do not fit together; nothing was changed. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Brings the database to the newest schema: the files that are not yet recorded in `schema_migrations` run in order, all of them in one
 * transaction, so that an upgrade that fails leaves no trace; and under an advisory lock, so that any number of processes may start at once.
 * Returns the names of those that ran. Throws `MigrationError` when an applied file was altered since, or when
 * the database knows a migration that this build does not.
 */
export async function migrate(database_url: string, folder = migrationsFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({
    connectionString: database_url,
    application_name: 'engraft-migrate',
    connectionTimeoutMillis: connection_timeout_ms,
  });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migration]);
    await client.query('BEGIN');
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
    const applied = await readApplied(client);
    assertCompatible(migrations, applied);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of missing) await apply(client, migration);
    await client.query('COMMIT');
    return missing.map(({ name }) => name);
  } finally {
    // Ends the session, and with it the lock and a transaction that was not committed.
    await client.end();
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const sql = await readFile(`${folder}/${file}`, 'utf8');
      return { name: file.replace(/\.sql$/, ''), sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

async function readApplied(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; sha256: string }>('SELECT name, sha256 FROM schema_migrations');
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

function assertCompatible(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.sha256]));
  const last_applied = [...applied.keys()].sort().at(-1) ?? '';
  for (const [name, sha256] of applied) {
    if (!known.has(name))
      throw new MigrationError(`the database has migration ${name}, which this version of the service does not know`);
    if (known.get(name) !== sha256)
      throw new MigrationError(`migration ${name} was altered after it was applied: restore the file, add a new one`);
  }
  const late = migrations.find(({ name }) => !applied.has(name) && name < last_applied);
  if (late !== undefined)
    throw new MigrationError(`migration ${late.name} comes before ${last_applied}, which is already applied`);
}

async function apply(client: pg.Client, { name, sql, sha256 }: Migration): Promise<void> {
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
}
