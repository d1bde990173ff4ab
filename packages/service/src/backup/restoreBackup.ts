import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '@engraft/engine/synced-folders';
import type pg from 'pg';
import type { BucketConfig } from '../config/adapterStoreConfig.js';
import { openDatabase } from '../db/database.js';
import { attachEmbeddedPostgres, ownConnection } from '../db/embeddedPostgres/index.js';
import { assertMigratable, lockSchema, migrateWithin } from '../db/migrate.js';
import { withSession } from '../db/session.js';
import { verifyLedger, type LedgerReport } from '../ledger/verifyLedger.js';
import { makeDataFolder, restoringFolder } from '../startup/dataFolder.js';
import { writeDefaultKey } from '../startup/defaultKey.js';
import { BackupError } from './backupError.js';
import type { BackupHeader, BackupProgress } from './format.js';
import { IncomingAdapters } from './incomingAdapters.js';
import { openForLoading, type TableLoader } from './loadTables.js';
import { readBackup, readHeader, type ReadBackup } from './readBackup.js';
import { openRestoredStore } from './restoredStore.js';
import { setTextFormat } from './readTables.js';
import { checkSeal } from './seal.js';

export interface RestoreOptions {
  readonly file: string;
  readonly dataFolder: string;
  /** `null` for a database embedded in the data folder. */
  readonly databaseUrl: string | null;
  /** Without it adapters go into the data folder. */
  readonly adapterBucket?: BucketConfig | null;
  readonly onProgress?: (progress: BackupProgress) => void;
  readonly signal?: AbortSignal;
}

export interface RestoreReport {
  readonly created_at: string;
  readonly rows: number;
  readonly adapters: number;
  readonly missing_adapters: readonly string[];
  /** Migrations that brought an older backup to the newest schema. */
  readonly migrations: readonly string[];
  readonly ledger: Pick<LedgerReport, 'ok' | 'differences'>;
}

/**
 * Turns a backup into a data folder, with a database of its own or in the empty one of `databaseUrl`. The whole file
 * is compared with its checksum before anything is made, and nothing in the folder can be used before all of it is
 * there. A failure leaves the folder as empty as it was, and nothing in the database.
 * @throws BackupError, and MigrationError if a newer release made the backup
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const { file, dataFolder, databaseUrl, onProgress, signal } = options;
  await checkSeal(file, (done, total) => onProgress?.({ phase: 'checking', done, total, unit: 'bytes' }), signal);
  const { migrations } = await readHeader(file);
  await assertMigratable(migrations, file);
  const claim = await claimFolder(dataFolder);
  try {
    const report = await withTarget(databaseUrl, claim.staging, (url) => restoreInto(url, claim.staging, options));
    await activate(claim.staging, dataFolder);
    return report;
  } catch (error) {
    await claim.giveUp();
    throw error;
  }
}

interface FolderClaim {
  /** Lies in the folder, where a rename gives each part its name. While it exists, no service starts. */
  readonly staging: string;
  giveUp(): Promise<void>;
}

async function claimFolder(dataFolder: string): Promise<FolderClaim> {
  const wasThere = (await stat(dataFolder).catch(() => null)) !== null;
  await makeDataFolder(dataFolder);
  const staging = restoringFolder(dataFolder);
  // Fails if another restore has just made it.
  await mkdir(staging, { mode: 0o700 });
  const giveUp = async (): Promise<void> => {
    await rm(staging, { recursive: true, force: true });
    if (!wasThere) await rmdir(dataFolder).catch(() => undefined);
  };
  const others = (await readdir(dataFolder)).filter((name) => name !== path.basename(staging));
  if (others.length > 0) {
    await giveUp();
    throw new BackupError(`${dataFolder} is not empty: a backup is restored into a folder of its own (--data)`);
  }
  return { staging, giveUp };
}

async function withTarget<Result>(
  databaseUrl: string | null,
  staging: string,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl !== null) return work(databaseUrl);
  const server = await attachEmbeddedPostgres(staging);
  try {
    return await work(ownConnection(server.url));
  } finally {
    await server.release();
  }
}

/** Restores with the URL of the role that will own the tables. */
async function restoreInto(url: string, staging: string, options: RestoreOptions): Promise<RestoreReport> {
  const loaded = await withSession(url, 'engraft-restore', async (client) => {
    await client.query('BEGIN');
    await lockSchema(client);
    await assertUnused(client);
    const result = await withStore(staging, options.adapterBucket ?? null, (adapters) =>
      loadAll(client, adapters, staging, options),
    );
    // Where no answer comes it may have been done: the adapters stay.
    await client.query('COMMIT');
    return result;
  });
  const db = openDatabase(url, { maxConnections: 1 });
  const { ok, differences } = await verifyLedger(db).finally(() => db.destroy());
  const { header, manifest, missing_adapters, migrations } = loaded;
  const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0);
  const adapters = Object.keys(manifest.adapters).length - (missing_adapters.length - manifest.missing_adapters.length);
  return { created_at: header.created_at, rows, adapters, missing_adapters, migrations, ledger: { ok, differences } };
}

/** Runs `work`. If it fails, removes from the store what it has put there. */
async function withStore<Result>(
  staging: string,
  adapterBucket: BucketConfig | null,
  work: (adapters: IncomingAdapters) => Promise<Result>,
): Promise<Result> {
  const restored = await openRestoredStore(staging, adapterBucket);
  const adapters = new IncomingAdapters(restored.store, path.join(staging, 'incoming'));
  try {
    return await work(adapters);
  } catch (error) {
    await restored.giveUp(adapters.kept).catch((second: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new AggregateError([error, second], `${why}; what was put into ${restored.store.home} is still there`);
    });
    throw error;
  } finally {
    await restored.store.close();
  }
}

async function assertUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ used: boolean }>(`SELECT to_regclass('schema_migrations') IS NOT NULL AS used`);
  if (rows[0]?.used === true) {
    throw new BackupError(
      'the database of DATABASE_URL is in use already: name an empty one, or none for an embedded one',
    );
  }
}

interface Loaded extends ReadBackup {
  readonly missing_adapters: readonly string[];
  readonly migrations: readonly string[];
}

async function loadAll(
  client: pg.Client,
  adapters: IncomingAdapters,
  staging: string,
  { file, onProgress, signal }: RestoreOptions,
): Promise<Loaded> {
  for (const timeout of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
    await client.query(`SET LOCAL ${timeout} = 0`);
  }
  await setTextFormat((statement) => client.query(statement));
  const total = (await stat(file)).size;
  let loader: TableLoader | null = null;
  const read = await readBackup(file, {
    onHeader: async (header) => {
      await migrateWithin(client, undefined, lastMigration(header));
      loader = await openForLoading(client, header);
    },
    onRows: async (table, rows) => loader?.load(table, rows),
    onAdapterFile: (adapterHash, name, content) => adapters.receive(adapterHash, name, content),
    onDefaultKey: (secret) => writeDefaultKey(staging, secret.trim()),
    onProgress: (done) => onProgress?.({ phase: 'restoring', done, total, unit: 'bytes' }),
    ...(signal === undefined ? {} : { signal }),
  });
  await (loader as TableLoader | null)?.done();
  const migrations = await migrateWithin(client);
  const missingAdapters = [...read.manifest.missing_adapters, ...adapters.damaged];
  await settleDown(client, missingAdapters);
  await client.query(`ANALYZE ${Object.keys(read.header.tables).join(', ')}`);
  return { ...read, missing_adapters: missingAdapters, migrations };
}

function lastMigration({ migrations }: BackupHeader): string {
  return (
    migrations
      .map(({ name }) => name)
      .sort()
      .at(-1) ?? ''
  );
}

/**
 * Records what was not saved. Adapters that the store did not have whole are known to be missing. Learning under way
 * repeats what it had only in its work folder, which is billed once.
 */
async function settleDown(client: pg.Client, missingAdapters: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE versions SET damaged_at = now()
     WHERE adapter_hash = ANY($1::text[]) AND files_deleted_at IS NULL AND damaged_at IS NULL`,
    [missingAdapters],
  );
  // These phases are repeated, and their usage is counted then.
  await client.query(
    `WITH lost AS (
       DELETE FROM job_phases USING jobs
       WHERE jobs.id = job_id AND jobs.status IN ('queued', 'running') AND NOT settled AND job_phases.phase IN ('training', 'evaluating')
       RETURNING job_phases.*
     ), used AS (
       SELECT job_id, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
         sum(cached_input_tokens) AS cached_input_tokens, sum(training_tokens) AS training_tokens
       FROM lost GROUP BY job_id
     )
     UPDATE jobs SET input_tokens = jobs.input_tokens - used.input_tokens,
       output_tokens = jobs.output_tokens - used.output_tokens,
       cached_input_tokens = jobs.cached_input_tokens - used.cached_input_tokens,
       training_tokens = jobs.training_tokens - used.training_tokens
     FROM used WHERE jobs.id = used.job_id`,
  );
  // The installation that the backup is of may have written this file since, and perhaps in a folder that both share.
  await client.query('DELETE FROM archives WHERE moved_at IS NULL');
  await client.query('UPDATE jobs SET training_progress = NULL WHERE NOT settled AND training_progress IS NOT NULL');
}

/** Gives every part its name, or none. The folder can be used when the staging folder is gone. */
async function activate(staging: string, dataFolder: string): Promise<void> {
  const parts = (await readdir(staging)).filter((name) => ['adapters', 'default-key', 'postgres'].includes(name));
  const renamed: string[] = [];
  try {
    for (const name of parts) {
      await rename(path.join(staging, name), path.join(dataFolder, name));
      renamed.push(name);
    }
    await syncFolder(dataFolder);
  } catch (error) {
    for (const name of renamed) await rename(path.join(dataFolder, name), path.join(staging, name));
    throw error;
  }
  await rm(staging, { recursive: true });
  await syncFolder(dataFolder);
}
