import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sql, type Kysely, type Transaction } from 'kysely';
import { type AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { serviceTables } from '../db/serviceRole/grants.js';
import { readDefaultKey } from '../startup/defaultKey.js';
import { BackupError } from './backupError.js';
import * as format from './format.js';
import { holdingAdapters } from './holdingAdapters.js';
import { findNeededAdapters, type NeededAdapter, readAdapter } from './readAdapters.js';
import { readBackup, readHeader } from './readBackup.js';
import { countRows, existingTables, readColumns, readTable, setTextFormat } from './readTables.js';
import { checkSeal } from './seal.js';
import { tarEnd, tarFile } from './tar.js';
import { writeArchive } from './writeArchive.js';

export interface BackupOptions {
  readonly db: Kysely<Database>;
  readonly dataFolder: string;
  /** The store from `findAdapterStore`: an empty folder may be a file system that is not mounted. */
  readonly store: AdapterStore;
  readonly file: string;
  readonly engraft_version: string;
  readonly onProgress?: (progress: format.BackupProgress) => void;
  readonly signal?: AbortSignal;
}

export interface BackupReport {
  readonly bytes: number;
  readonly sha256: string;
  readonly created_at: string;
  readonly rows: number;
  readonly adapters: number;
  readonly missing_adapters: readonly string[];
}

/**
 * Writes everything that the service knows at one moment into one file, and reads it back: all rows in one snapshot of
 * the database, the adapters that they need, and the key of the first start. The service may work meanwhile, but
 * deletes no adapters until the file is written. An adapter that the store does not have whole is left out and
 * reported, so that the rest can be saved. A second backup waits for the first.
 * @throws BackupError
 */
export async function makeBackup(options: BackupOptions): Promise<BackupReport> {
  const { db, store, file, onProgress, signal } = options;
  await assertReplaceable(file);
  const check = async (partial: string, sha256: string): Promise<void> => {
    const onBytes = (done: number, total: number): void =>
      onProgress?.({ phase: 'checking', done, total, unit: 'bytes' });
    if ((await checkSeal(partial, onBytes, signal)) !== sha256) {
      throw new BackupError(`the disk of ${file} does not give back what was written to it`);
    }
    await readBackup(partial, signal === undefined ? {} : { signal });
  };
  return holdingAdapters(db, async () => {
    const content: { header?: format.BackupHeader; manifest?: format.BackupManifest } = {};
    const archive = archiveOf(options, store, (header, manifest) => Object.assign(content, { header, manifest }));
    const written = await writeArchive(file, archive, check, signal);
    const { header, manifest } = content;
    if (header === undefined || manifest === undefined) throw new Error('a backup was written without its manifest');
    return { ...written, ...reportOf(header, manifest) };
  });
}

/** Only an earlier backup may be replaced. */
async function assertReplaceable(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null) {
    const folder = path.dirname(path.resolve(file));
    if ((await stat(folder).catch(() => null))?.isDirectory() !== true) {
      throw new BackupError(`${file} cannot be written: there is no folder ${folder}`);
    }
    return;
  }
  const isBackup = found.isFile() && (await readHeader(file).catch(() => null)) !== null;
  if (!isBackup) throw new BackupError(`${file} is there already, and is no backup: name another file`);
}

type Written = (header: format.BackupHeader, manifest: format.BackupManifest) => void;

async function* archiveOf(options: BackupOptions, store: AdapterStore, onEnd: Written): AsyncGenerator<Uint8Array> {
  const { db, dataFolder, onProgress } = options;
  const tables = await existingTables(db, serviceTables);
  const snapshot = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute();
  try {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(snapshot);
    // Comes before the snapshot, which the first reading statement takes. No table may change in between.
    await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in access share mode`.execute(snapshot);
    await setTextFormat((statement) => sql.raw(statement).execute(snapshot));
    const header = await describe(snapshot, tables, options.engraft_version);
    yield* tarText(format.names.header, JSON.stringify(header, null, 2));
    const rows = yield* readAllTables(snapshot, header, onProgress);
    const needed = await findNeededAdapters(snapshot, header.tables['versions'] ?? []);
    const adapters = yield* readAllAdapters(store, needed, onProgress);
    const defaultKey = await readDefaultKey(dataFolder);
    if (defaultKey !== null) yield* tarText(format.names.defaultKey, `${defaultKey}\n`);
    const manifest = { tables: rows, ...adapters };
    yield* tarText(format.names.manifest, JSON.stringify(manifest, null, 2));
    yield tarEnd;
    onEnd(header, manifest);
  } finally {
    await snapshot.rollback().execute();
  }
}

function tarText(name: string, text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  return tarFile(name, bytes.byteLength, [bytes]);
}

async function describe(
  snapshot: Transaction<Database>,
  names: readonly string[],
  engraftVersion: string,
): Promise<format.BackupHeader> {
  const { rows: times } = await sql<{ created_at: Date }>`select now() as created_at`.execute(snapshot);
  const { rows: migrations } = await sql<{ name: string; sha256: string }>`
    select name, sha256 from schema_migrations order by name`.execute(snapshot);
  const { formatVersion } = format;
  const createdAt = (times[0]?.created_at ?? new Date()).toISOString();
  const tables = await readColumns(snapshot, names);
  return {
    format: 'engraft-backup',
    format_version: formatVersion,
    engraft_version: engraftVersion,
    created_at: createdAt,
    migrations,
    tables,
  };
}

type OnProgress = BackupOptions['onProgress'];

async function* readAllTables(
  snapshot: Transaction<Database>,
  header: format.BackupHeader,
  onProgress: OnProgress,
): AsyncGenerator<Uint8Array, format.BackupManifest['tables']> {
  const tables: format.BackupManifest['tables'] = {};
  const total = await countRows(snapshot, Object.keys(header.tables));
  let done = 0;
  const onRows = (rows: number): void => {
    done += rows;
    onProgress?.({ phase: 'database', done, total, unit: 'rows' });
  };
  for (const [table, columns] of Object.entries(header.tables)) {
    tables[table] = yield* readTable(snapshot, table, columns, onRows);
  }
  return tables;
}

async function* readAllAdapters(
  store: AdapterStore,
  needed: readonly NeededAdapter[],
  onProgress: OnProgress,
): AsyncGenerator<Uint8Array, Pick<format.BackupManifest, 'adapters' | 'missing_adapters'>> {
  const adapters: format.BackupManifest['adapters'] = {};
  const missingAdapters: string[] = [];
  const total = needed.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onProgress?.({ phase: 'adapters', done, total: Math.max(done, total), unit: 'bytes' });
  };
  for (const { adapter_hash } of needed) {
    const files = yield* readAdapter(store, adapter_hash, onBytes);
    if (files === null) missingAdapters.push(adapter_hash);
    else adapters[adapter_hash] = files;
  }
  return { adapters, missing_adapters: missingAdapters };
}

function reportOf({ created_at }: format.BackupHeader, manifest: format.BackupManifest) {
  const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0);
  const { adapters, missing_adapters } = manifest;
  return { created_at, rows, adapters: Object.keys(adapters).length, missing_adapters };
}
