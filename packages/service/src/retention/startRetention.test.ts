import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { renewHosting } from './renewHosting.js';
import { startRetention } from './startRetention.js';

describe('rounds of retention', () => {
  let database: TestDatabase;
  let dataFolder: string;
  before(async () => {
    database = await openTestDatabase();
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-rounds-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  it('of several workers share what is due, pass over what another is at, and come to it later', async () => {
    const { db } = database;
    const key = await createTestKey(db, await createTestProject(db));
    const versions = [];
    for (let index = 0; index < 9; index += 1)
      versions.push(await createTestVersion(db, key, { subject_id: `s${index}` }));
    await db
      .updateTable('versions')
      .set({
        created_at: sql`now() - interval '23.5 hours'`,
        expires_at: sql<Date>`now() + interval '30 minutes'`,
      })
      .execute();
    const id = versions[4]?.id ?? '';
    const trx = await db.startTransaction().execute();
    await trx.selectFrom('versions').select('id').where('id', '=', id).forUpdate().execute();
    const rounds = await Promise.all([renewHosting(db), renewHosting(db), renewHosting(db)]);
    assert.equal(
      rounds.reduce((sum, renewed) => sum + renewed),
      8,
    );
    await trx.rollback().execute();
    const { rows } = await sql<{ id: string }>`select version_id as id from transfers where kind = 'hosting'`.execute(
      db,
    );
    assert.deepEqual(new Set(rows.map((row) => row.id)).size, 8, 'each is charged once');
    assert.equal(await renewHosting(db), 1);
  });

  it('keep nobody waiting for the first one, and end in the middle when they are told to stop', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const jobId = await admitTestLearning(database.db, key);
    const { project_id } = key;
    await database.db.transaction().execute(async (trx) => {
      await sql`insert into transfers (kind, from_account, to_account, amount_microusd, job_id)
        values ('void', 'reserved:' || ${project_id}, 'available:' || ${project_id}, 1000000, ${jobId})`.execute(trx);
      await trx.updateTable('jobs').set({ status: 'failed', phase: 'done', settled: true }).execute();
    });
    const hashes = Array.from({ length: 50 }, (_, index) => `sha256:${index.toString(16).padStart(64, '0')}`);
    await database.db
      .insertInto('kept_adapters')
      .values(hashes.map((adapterHash) => ({ adapter_hash: adapterHash, job_id: jobId })))
      .execute();
    // A fault injector: a slow disk.
    const removed: string[] = [];
    const store = await openFolderStore(dataFolder);
    const slow = {
      ...store,
      remove: async (adapterHash: string) => {
        removed.push(adapterHash);
        await sleep(200);
        return store.remove(adapterHash);
      },
    };
    const logger = pino({ level: 'silent' });
    const retention = startRetention({
      db: database.db,
      store: slow,
      dataFolder,
      logger,
      jobRetentionDays: null,
      archive: { afterMonths: null, folder: '' },
    });
    while (removed.length === 0) await sleep(10);
    await retention.stop();
    assert.ok(removed.length < hashes.length, `${removed.length} of ${hashes.length}`);
    const stoppedAt = removed.length;
    await sleep(500);
    assert.equal(removed.length, stoppedAt);
  });
});
