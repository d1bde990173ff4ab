import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { recordImport } from '../adapterStore/keptAdapters.js';
import { inTransaction } from '../db/transaction.js';
import { baseModelHash, openBackupSource, type BackupSource } from '../testing/testBackup.js';
import { activateVersion } from '../versions/activateVersion.js';
import { recordBaseModel } from '../versions/baseModel.js';
import { exportSubject } from './exportSubject.js';
import { importSubject, type ImportOutcome } from './importSubject.js';
import { readSubjectFile } from './readSubjectFile.js';

let here: BackupSource;
let there: BackupSource;
before(async () => {
  [here, there] = await Promise.all([openBackupSource(), openBackupSource()]);
});
after(() => Promise.all([here.close(), there.close()]));

const isSomebodyWaiting = async (): Promise<boolean> => {
  const waiting = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(there.database.owner);
  return waiting.rows.length > 0;
};

it('keeps what is activated in the same moment, instead of the version that is imported', async () => {
  await here.learn('what comes along');
  const [file, folder] = [here.newPath(), there.newPath()];
  const from = { project_id: here.key.project_id, tenant_id: null, name: 'anna' };
  await exportSubject(here.database.db, here.store, { ...from, all: false, file, engraft_version: '0.0.0' });
  const { db } = there.database;
  await recordBaseModel(db, baseModelHash);
  const { id, subject_ref } = await there.learn('what is activated meanwhile');
  await db.updateTable('subjects').set({ active_version_id: null }).where('id', '=', subject_ref).execute();
  await mkdir(folder);
  const read = await readSubjectFile(file, folder);
  await recordImport(db, [...read.adapters.keys()]);

  const importing: Promise<ImportOutcome>[] = [];
  await inTransaction(db, null, async (trx) => {
    await activateVersion(trx, { subject_ref, version_id: id, expected_version_id: null });
    importing.push(importSubject(db, there.store, { ...read, ...from, project_id: there.key.project_id }));
    while (!(await isSomebodyWaiting())) await sleep(10);
  });
  const [outcome] = await Promise.all(importing);
  assert.ok(outcome?.kind === 'imported');
  assert.equal(outcome.activated, null);
  const { active_version_id } = await db.selectFrom('subjects').selectAll().executeTakeFirstOrThrow();
  assert.equal(active_version_id, id);
});
