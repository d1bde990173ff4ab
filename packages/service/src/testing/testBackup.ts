import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { adapterFiles } from '@engraft/engine';
import type { Kysely } from 'kysely';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { findFolderStore } from '../adapterStore/findAdapterStore.js';
import { makeBackup, type BackupOptions, type BackupReport } from '../backup/makeBackup.js';
import { openDatabase } from '../db/database.js';
import type { Database } from '../db/schema.js';
import { writeDefaultKey } from '../startup/defaultKey.js';
import { keepTestAdapter } from './testAdapter.js';
import { createTestKey, createTestProject, type TestKey } from './testApp.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';
import { createTestVersion, type TestVersion } from './testVersion.js';

/** The checkpoint on which the versions were trained. No worker has loaded it. */
export const baseModelHash = `sha256:${'b'.repeat(64)}`;

/** An installation to back up: a database, a data folder and a key. */
export interface BackupSource {
  readonly database: TestDatabase;
  readonly dataFolder: string;
  readonly store: FolderStore;
  readonly key: TestKey;
  /** A path at which there is nothing. */
  newPath(): string;
  /** Makes an active version whose adapter in the store has these weights. */
  learn(weights: string | Uint8Array, subjectId?: string): Promise<TestVersion & { readonly adapter_hash: string }>;
  backUp(options?: Partial<BackupOptions>): Promise<BackupReport & { readonly file: string }>;
  close(): Promise<void>;
}

export async function openBackupSource(): Promise<BackupSource> {
  const database = await openTestDatabase({ maxConnections: 16 });
  const { db } = database;
  const home = await mkdtemp(path.join(tmpdir(), 'engraft-backup-'));
  const dataFolder = path.join(home, 'data');
  const store = await openFolderStore(dataFolder);
  const key = await createTestKey(db, await createTestProject(db, 1_000_000_000_000));
  await writeDefaultKey(dataFolder, key.secret);
  let paths = 0;
  const newPath = (): string => path.join(home, `new-${(paths += 1)}`);
  return {
    database,
    dataFolder,
    store,
    key,
    newPath,
    learn: async (weights, subjectId = 'anna') => {
      const adapterHash = await keepTestAdapter(store, weights);
      const version = await createTestVersion(db, key, {
        subject_id: subjectId,
        adapter_hash: adapterHash,
        base_model_hash: baseModelHash,
      });
      const { folder } = store.locate(adapterHash);
      const sizes = await Promise.all(adapterFiles.map((file) => stat(path.join(folder, file))));
      const sizeBytes = sizes.reduce((sum, { size }) => sum + size, 0);
      await db.updateTable('versions').set({ size_bytes: sizeBytes }).where('id', '=', version.id).execute();
      return { ...version, adapter_hash: adapterHash };
    },
    backUp: async (options = {}) => {
      const file = newPath();
      const found = await findFolderStore(db, options.dataFolder ?? dataFolder);
      const given = { db, dataFolder, store: found, file, engraft_version: '0.0.0' };
      return { file, ...(await makeBackup({ ...given, ...options })) };
    },
    close: async () => {
      await database.close();
      await rm(home, { recursive: true });
    },
  };
}

export async function reading<Result>(url: string, work: (db: Kysely<Database>) => Promise<Result>): Promise<Result> {
  const db = openDatabase(url, { maxConnections: 1 });
  return work(db).finally(() => db.destroy());
}
