import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAdapterIntact } from '@engraft/engine';
import { sql, type Kysely } from 'kysely';
import { storeMark } from '../adapterStore/adapterStore.js';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { verifyArchives } from '../archive/verifyArchives.js';
import { openDatabase } from '../db/database.js';
import type { Database } from '../db/schema.js';
import { findHalfStates } from './findHalfStates.js';

/**
 * Lists, in sentences, everything that a crash must not leave behind once a service has come back, its jobs have ended,
 * and nobody is at work: half an admission, a charge that is not its job's, a file that nobody would remove, a version
 * without its file.
 * @param bucket the objects in it by their keys, where adapters live in one.
 */
export async function findAftermath(
  databaseUrl: string,
  dataFolder: string,
  bucket?: ReadonlyMap<string, Uint8Array>,
): Promise<string[]> {
  const db = openDatabase(databaseUrl, { maxConnections: 2 });
  try {
    const { halfStates } = await findHalfStates(db);
    return [
      ...halfStates,
      ...(await wrongEndings(db)),
      ...(await doubleCharges(db)),
      ...(await (bucket === undefined ? adapterFaults(db, dataFolder) : bucketFaults(db, bucket))),
      ...(await archiveFaults(db, dataFolder)),
      ...(await leftFiles(dataFolder)),
    ];
  } finally {
    await db.destroy();
  }
}

/** Lists, in sentences, jobs that were charged more than once, or more than they reserved. */
export async function findDoubleCharges(databaseUrl: string): Promise<string[]> {
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    return await doubleCharges(db);
  } finally {
    await db.destroy();
  }
}

async function doubleCharges(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select format('job %s cost %s of %s micro-USD', id, charged_microusd, reserved_microusd) as what from jobs
      where charged_microusd > reserved_microusd
    union all
    select format('job %s was charged %s times', job_id, count(*)) from transfers
      where kind = 'post' group by job_id having count(*) > 1
  `.execute(db);
  return rows.map(({ what }) => what);
}

/** "Every job ends", and only ready jobs have a version. */
async function wrongEndings(db: Kysely<Database>): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select format('job %s is still %s', id, status) as what from jobs where status in ('queued', 'running')
    union all
    select format('job %s is ready without a version', id) from jobs
      where status = 'ready' and not exists (select from versions where source_job_id = jobs.id)
    union all
    select format('version %s is of a job that is %s', versions.id, status) from versions
      join jobs on jobs.id = source_job_id where status <> 'ready'
  `.execute(db);
  return rows.map(({ what }) => what);
}

/** Checks that no version lacks its file, and that the store has no adapter that the database does not know. */
async function adapterFaults(db: Kysely<Database>, dataFolder: string): Promise<string[]> {
  const store = await openFolderStore(dataFolder);
  const versions = await db.selectFrom('versions').select(['id', 'adapter_hash', 'files_deleted_at']).execute();
  const kept = await db.selectFrom('kept_adapters').select('adapter_hash').execute();
  const faults: string[] = [];
  for (const { id, adapter_hash, files_deleted_at } of versions) {
    const isThere = await store.has(adapter_hash);
    if (files_deleted_at !== null) {
      if (isThere) faults.push(`the files of version ${id} are there, and recorded as deleted`);
    } else if (!(await isAdapterIntact(store.locate(adapter_hash)))) {
      faults.push(`version ${id} has no whole adapter`);
    }
  }
  const folders = [...versions, ...kept].map(({ adapter_hash }) => path.basename(store.locate(adapter_hash).folder));
  const known = [storeMark, ...folders];
  const names = await readdir(path.join(dataFolder, 'adapters'));
  return [...faults, ...names.filter((name) => !known.includes(name)).map((name) => `adapters/${name} is an orphan`)];
}

/** The same of a bucket, whose objects are `<anything>/sha256-<hex>/<file>` and the mark. */
async function bucketFaults(db: Kysely<Database>, bucket: ReadonlyMap<string, Uint8Array>): Promise<string[]> {
  const versions = await db.selectFrom('versions').select(['id', 'adapter_hash', 'files_deleted_at']).execute();
  const kept = await db.selectFrom('kept_adapters').select('adapter_hash').execute();
  const nameOf = (adapterHash: string): string => adapterHash.replace(':', '-');
  const faults: string[] = [];
  for (const { id, adapter_hash, files_deleted_at } of versions) {
    const files = [...bucket].filter(([key]) => key.includes(`/${nameOf(adapter_hash)}/`));
    if (files_deleted_at !== null) {
      if (files.length > 0) faults.push(`the files of version ${id} are there, and recorded as deleted`);
    } else if (!(await areWhole(adapter_hash, files))) faults.push(`version ${id} has no whole adapter`);
  }
  const known = [storeMark, ...[...versions, ...kept].map(({ adapter_hash }) => nameOf(adapter_hash))];
  const orphans = [...bucket.keys()].filter((key) => !known.some((name) => key.includes(`/${name}`)));
  return [...faults, ...orphans.map((key) => `${key} is an orphan`)];
}

async function areWhole(contentHash: string, files: readonly (readonly [string, Uint8Array])[]): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-whole-'));
  try {
    for (const [key, content] of files) await writeFile(path.join(folder, path.basename(key)), content);
    return await isAdapterIntact({ folder, contentHash });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Files of archived jobs that are not as the database has recorded them, and files that it does not know. */
async function archiveFaults(db: Kysely<Database>, dataFolder: string): Promise<string[]> {
  const folder = path.join(dataFolder, 'archive');
  const { differences } = await verifyArchives(db, folder);
  const rows = await db.selectFrom('archives').select(['file', 'moved_at']).execute();
  const begun = rows
    .filter(({ moved_at }) => moved_at === null)
    .map(({ file }) => `${file} was begun, and is not recorded`);
  const known = new Set(rows.map(({ file }) => path.join(folder, file)));
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return [...differences, ...begun, ...files.filter((file) => !known.has(file)).map((file) => `${file} is an orphan`)];
}

/** Work of jobs that have ended, and what a process writes on its way to a file's name. */
async function leftFiles(dataFolder: string): Promise<string[]> {
  const namesIn = async (folder: string): Promise<string[]> => {
    const names = await readdir(path.join(dataFolder, folder)).catch(() => []);
    return names.map((name) => path.join(folder, name));
  };
  const passing = [...(await namesIn('.')), ...(await namesIn('services'))].filter((name) => name.endsWith('.new'));
  const copies = (await namesIn('adapter-copies/0')).filter((name) => path.basename(name).startsWith('.'));
  return [...(await namesIn('work')), ...passing, ...copies].map((name) => `${name} is an orphan`);
}
