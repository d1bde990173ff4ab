/** The database, adapters and versions of the tests of retention. Each test file opens its own. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql } from 'kysely';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { readBalance } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject } from './testApp.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';
import { createTestVersion } from './testVersion.js';

const sizeBytes = 50_000_000;
/** The model does not matter here, since no version has one on record. */
export const anyModel = () => Promise.resolve('sha256:0');
export const dayMicrousd = storageChargeMicrousd(sizeBytes, 86_400, currentPriceCard);
export let database: TestDatabase;
export let folder: string;
export let store: FolderStore;
let hashes = 0;
export async function open(): Promise<void> {
  database = await openTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-retention-'));
  store = await openFolderStore(folder);
}
export async function close(): Promise<void> {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
  await database.close();
  await rm(folder, { recursive: true });
}

/** A version of a project of its own, `age` ago, with the deadline `left` from now (PostgreSQL intervals). */
export async function makeVersion(
  times: { age: string; left: string },
  { activate = false, credit_microusd = 100_000_000 } = {},
) {
  const projectId = await createTestProject(database.db, credit_microusd);
  const key = await createTestKey(database.db, projectId);
  const { id, job_id } = await createTestVersion(database.db, key, { activate });
  hashes += 1;
  const adapterHash = `sha256:${hashes.toString(16).padStart(64, '0')}`;
  await database.db
    .updateTable('versions')
    .set({
      adapter_hash: adapterHash,
      size_bytes: sizeBytes,
      created_at: sql`now() - ${times.age}::interval`,
      expires_at: sql<Date>`now() + ${times.left}::interval`,
    })
    .where('id', '=', id)
    .execute();
  return { id, project_id: projectId, adapter_hash: adapterHash, job_id };
}
export const available = async (projectId: string): Promise<number> =>
  (await readBalance(database.db, projectId)).available_microusd;
export const retentionEnded = async (id: string): Promise<boolean> => {
  const version = await database.db
    .selectFrom('versions')
    .select('retention_ended_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return version.retention_ended_at !== null;
};
export const endedAtDeadline = async (id: string): Promise<void> => {
  await database.db
    .updateTable('versions')
    .set((eb) => ({ retention_ended_at: eb.ref('expires_at') }))
    .where('id', '=', id)
    .execute();
};
export const recordsOf = async (adapterHash: string): Promise<number> => {
  const kept = database.db.selectFrom('kept_adapters').select('job_id').where('adapter_hash', '=', adapterHash);
  return (await kept.execute()).length;
};
export const makeFiles = async (adapterHash: string): Promise<void> => {
  const { folder: where } = store.locate(adapterHash);
  await mkdir(where);
  await writeFile(path.join(where, 'adapter_config.json'), '{}');
};
export const hoursLeft = async (id: string): Promise<number> => {
  const { hours } = await database.db
    .selectFrom('versions')
    .select(sql<number>`round(extract(epoch from expires_at - now()) / 3600)::float8`.as('hours'))
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return hours;
};
