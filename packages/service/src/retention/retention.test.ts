import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { currentPriceCard, storageChargeMicrousd } from '@engraft/contract';
import { sql } from 'kysely';
import { type AdapterStore, openAdapterStore } from '../adapterStore/adapterStore.js';
import { readBalance } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { deleteExpiredFiles } from './deleteExpiredFiles.js';
import { renewHosting } from './renewHosting.js';

const size_bytes = 50_000_000;
const day_microusd = storageChargeMicrousd(size_bytes, 86_400, currentPriceCard);

describe('retention', () => {
  let database: TestDatabase;
  let folder: string;
  let store: AdapterStore;
  let hashes = 0;
  before(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-retention-'));
    store = await openAdapterStore(folder);
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** A version of a project of its own, `age` ago, with the deadline `left` from now (PostgreSQL intervals). */
  async function makeVersion(
    times: { age: string; left: string },
    { activate = false, credit_microusd = 100_000_000 } = {},
  ) {
    const project_id = await createTestProject(database.db, credit_microusd);
    const key = await createTestKey(database.db, project_id);
    const { id } = await createTestVersion(database.db, key, { activate });
    hashes += 1;
    const adapter_hash = `sha256:${hashes.toString(16).padStart(64, '0')}`;
    await database.db
      .updateTable('versions')
      .set({
        adapter_hash,
        size_bytes,
        created_at: sql`now() - ${times.age}::interval`,
        expires_at: sql<Date>`now() + ${times.left}::interval`,
      })
      .where('id', '=', id)
      .execute();
    return { id, project_id, adapter_hash };
  }
  const hoursLeft = async (id: string): Promise<number> => {
    const { hours } = await database.db
      .selectFrom('versions')
      .select(sql<number>`round(extract(epoch from expires_at - now()) / 3600)::float8`.as('hours'))
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return hours;
  };

  it('charges a day in advance and moves the deadline on by that day, once', async () => {
    const { id, project_id } = await makeVersion({ age: '23.5 hours', left: '30 minutes' });
    const before_microusd = (await readBalance(database.db, project_id)).available_microusd;
    const rounds = await Promise.all([renewHosting(database.db), renewHosting(database.db), renewHosting(database.db)]);
    assert.equal(
      rounds.reduce((sum, renewed) => sum + renewed),
      1,
    );
    assert.ok([24, 25].includes(await hoursLeft(id)));
    const after_microusd = (await readBalance(database.db, project_id)).available_microusd;
    assert.equal(before_microusd - after_microusd, day_microusd);
  });

  it('leaves a version alone whose deadline is far, or past', async () => {
    await makeVersion({ age: '1 hour', left: '23 hours' });
    await makeVersion({ age: '25 hours', left: '-1 minutes' });
    assert.equal(await renewHosting(database.db), 0);
  });

  it('lets a version expire after the retention of its project, unless it is active', async () => {
    const old = await makeVersion({ age: '30 days', left: '50 minutes' });
    const active = await makeVersion({ age: '30 days', left: '30 minutes' }, { activate: true });
    assert.equal(await renewHosting(database.db), 1);
    assert.equal(await hoursLeft(old.id), 1);
    assert.ok((await hoursLeft(active.id)) >= 24);
  });

  it('lets a version expire that its project cannot pay for', async () => {
    // A test version costs 1 USD.
    await makeVersion(
      { age: '23.5 hours', left: '30 minutes' },
      { activate: true, credit_microusd: 1_000_000 + day_microusd - 1 },
    );
    assert.equal(await renewHosting(database.db), 0);
  });

  it('deletes the files a week after the deadline, and keeps the row', async () => {
    const fresh = await makeVersion({ age: '10 days', left: '-6 days' });
    const stale = await makeVersion({ age: '10 days', left: '-8 days' });
    const shared = await makeVersion({ age: '10 days', left: '-8 days' });
    const sharing = await makeVersion({ age: '1 days', left: '10 hours' });
    await database.db
      .updateTable('versions')
      .set({ adapter_hash: shared.adapter_hash })
      .where('id', '=', sharing.id)
      .execute();
    for (const { adapter_hash } of [fresh, stale, shared]) {
      const { folder: where } = store.locate(adapter_hash);
      await mkdir(where);
      await writeFile(path.join(where, 'adapter_config.json'), '{}');
    }
    assert.equal(await deleteExpiredFiles(database.db, store), 1);
    assert.equal(await deleteExpiredFiles(database.db, store), 0);
    const kept = await Promise.all([fresh, stale, shared].map(({ adapter_hash }) => store.has(adapter_hash)));
    assert.deepEqual(kept, [true, false, true]);
    const row = await database.db
      .selectFrom('versions')
      .selectAll()
      .where('id', '=', stale.id)
      .executeTakeFirstOrThrow();
    assert.notEqual(row.files_deleted_at, null);
  });
});
