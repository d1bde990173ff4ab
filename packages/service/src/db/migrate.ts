import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { crashPoint } from '../crashPoints.js';
import { advisoryLocks } from './advisoryLocks.js';
import { insufficientPrivilege, isDatabaseError, isLockConflict } from './databaseErrors.js';
import { withSession } from './session.js';

/** Where the build puts the numbered SQL files. */
export const migrationsFolder = fileURLToPath(new URL('./migrations/', import.meta.url));

export interface AppliedMigration {
  /** `0001_initial`. The number gives the order. */
  readonly name: string;
  readonly sha256: string;
}

interface Migration extends AppliedMigration {
  readonly sql: string;
}

/** The database and this build of the service do not fit together. Nothing was changed. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * How long a migration waits for each lock. While it waits for a table, everybody else who would read it waits behind
 * it. It is shorter than PostgreSQL's `deadlock_timeout`, so of those that wait for each other the migration gives way.
 */
const lockTimeoutMs = 500;
/** Some minutes in all. The release before may copy or delete files in a transaction for long. */
const maxAttempts = 200;
const pauseMs = 1000;

/**
 * Brings the database to the newest schema. The files not yet recorded in `schema_migrations` run in order, in one
 * transaction, so that a failed upgrade leaves no trace, and under an advisory lock, so that any number of processes
 * may start at once. Where a process of the release before holds a table, all is undone and tried again. If none is
 * missing, nothing is written, and a user who may only read the record is enough. Returns the names of the files that
 * ran.
 * Throws `MigrationError` if an applied file was altered since, if the database knows a migration that this build does
 * not, if its rows break a rule of a new file, if the user may not change the schema, or if a table stays in use.
 */
export async function migrate(databaseUrl: string, folder = migrationsFolder): Promise<string[]> {
  return withSession(databaseUrl, 'engraft-migrate', async (client) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await migrateOnce(client, folder);
      } catch (error) {
        if (!isLockConflict(error)) throw error;
        if (attempt === maxAttempts) throw stillInUse(error);
        await client.query('ROLLBACK');
        await delay(pauseMs * Math.random());
      }
    }
  });
}

async function migrateOnce(client: pg.Client, folder: string): Promise<string[]> {
  await client.query('BEGIN');
  await lockSchema(client);
  // Other processes that migrate are waited for, however long they take.
  await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
  const made = await migrateWithin(client, folder);
  await client.query('COMMIT');
  crashPoint('migration.committed');
  return made;
}

/**
 * Does the same within the caller's transaction, which holds the lock of `lockSchema`.
 * @param last the migration to end with; by default the newest
 */
export async function migrateWithin(client: pg.Client, folder = migrationsFolder, last?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const applied = await readApplied(client);
  assertCompatible(migrations, applied ?? new Map<string, string>(), 'the database');
  const missing = migrations.filter(({ name }) => applied?.has(name) !== true && (last === undefined || name <= last));
  if (applied === null) await createRecord(client).catch((error: unknown) => explain(error, missing[0]));
  for (const migration of missing) await apply(client, migration).catch((error: unknown) => explain(error, migration));
  return missing.map(({ name }) => name);
}

/**
 * Checks that this build can bring a schema made by these migrations to the newest one.
 * @param what has that schema, for the message
 * @throws MigrationError
 */
export async function assertMigratable(
  applied: readonly AppliedMigration[],
  what: string,
  folder = migrationsFolder,
): Promise<void> {
  assertCompatible(await readMigrations(folder), new Map(applied.map(({ name, sha256 }) => [name, sha256])), what);
}

/** Locks until the transaction ends: a pooler in transaction mode would keep what the session holds. */
export async function lockSchema(client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.migration]);
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

/** `null` if there is no record yet. */
async function readApplied(client: pg.Client): Promise<Map<string, string> | null> {
  const record = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  );
  if (record.rows[0]?.exists !== true) return null;
  const { rows } = await client.query<{ name: string; sha256: string }>('SELECT name, sha256 FROM schema_migrations');
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]));
}

async function createRecord(client: pg.Client): Promise<void> {
  await client.query(`CREATE TABLE schema_migrations (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
}

function assertCompatible(migrations: readonly Migration[], applied: ReadonlyMap<string, string>, what: string): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.sha256]));
  const lastApplied = [...applied.keys()].sort().at(-1) ?? '';
  for (const [name, sha256] of applied) {
    if (!known.has(name))
      throw new MigrationError(`${what} has migration ${name}, which this version of the service does not know`);
    if (known.get(name) !== sha256)
      throw new MigrationError(`migration ${name} was altered after it was applied: restore the file, add a new one`);
  }
  const late = migrations.find(({ name }) => !applied.has(name) && name < lastApplied);
  if (late !== undefined)
    throw new MigrationError(`migration ${late.name} comes before ${lastApplied}, which is already applied`);
}

async function apply(client: pg.Client, { name, sql, sha256 }: Migration): Promise<void> {
  await client.query(sql);
  await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
}

/** Says what an operator can do about an upgrade that the database refused. */
function explain(error: unknown, migration: Migration | undefined): never {
  if (!isDatabaseError(error) || migration === undefined) throw error;
  const { name } = migration;
  if (error.code === insufficientPrivilege) {
    throw new MigrationError(
      `migration ${name} is missing, and this user of the database may not make it (${error.message}): ` +
        'run one command, such as "engraft ledger verify", with the URL of the owner of the tables first',
      { cause: error },
    );
  }
  // Class 23: rows break a rule.
  if (error.code?.startsWith('23') === true) {
    throw new MigrationError(
      `migration ${name} brings a rule that rows of this database break (${error.message}); nothing was changed: ` +
        '"engraft ledger verify" of the release before says what is wrong with the ledger',
      { cause: error },
    );
  }
  throw error;
}

function stillInUse(error: Error): MigrationError {
  return new MigrationError(
    `a migration needs tables that other processes did not leave for minutes (${error.message}); nothing was changed: ` +
      'try again, or stop the processes of the release before first',
    { cause: error },
  );
}
