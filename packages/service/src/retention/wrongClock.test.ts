import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { observeClock } from '../clock/observeClock.js';
import { accountId, issuedAccount } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestClock, type TestClock } from '../testing/testClock.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { activateInNamespace } from '../versions/activateInNamespace.js';
import { expireVersion } from '../versions/expireVersion.js';
import { findAdapter } from '../worker/findAdapter.js';
import { correctDeadlines } from './correctDeadlines.js';
import { deleteUnneededFiles } from './deleteUnneededFiles.js';
import { renewHosting } from './renewHosting.js';

/** The model does not matter here, since no version has one on record. */
const anyModel = () => Promise.resolve('sha256:0');

interface HostedVersion {
  readonly id: string;
  readonly project_id: string;
  readonly adapter_hash: string;
}

describe('a clock that is wrong', () => {
  let database: TestDatabase;
  let clock: TestClock;
  let folder: string;
  let store: FolderStore;
  let hashes = 0;
  before(async () => {
    database = await openTestDatabase();
    clock = await openTestClock(database);
    folder = await mkdtemp(path.join(tmpdir(), 'engraft-wrong-clock-'));
    store = await openFolderStore(folder);
  });
  beforeEach(() => clock.set('0'));
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await clock.close();
    await database.close();
    await rm(folder, { recursive: true });
  });

  /** A version that was made a day ago but for half an hour, with its files. */
  async function makeVersion({ activate = true, credit_microusd = 100_000_000 } = {}): Promise<HostedVersion> {
    const projectId = await createTestProject(database.db, credit_microusd);
    const { id } = await createTestVersion(database.db, await createTestKey(database.db, projectId), {
      activate,
    });
    hashes += 1;
    const adapterHash = `sha256:${hashes.toString(16).padStart(64, '0')}`;
    const madeEarlier = sql<Date>`created_at - interval '23.5 hours'`;
    await database.db
      .updateTable('versions')
      .set({
        adapter_hash: adapterHash,
        created_at: madeEarlier,
        expires_at: sql<Date>`expires_at - interval '23.5 hours'`,
      })
      .where('id', '=', id)
      .execute();
    await mkdir(store.locate(adapterHash).folder);
    return { id, project_id: projectId, adapter_hash: adapterHash };
  }
  /** As in a service: the clock is watched, and a round of retention comes later. */
  const round = async (): Promise<void> => {
    await observeClock(clock.db);
    await correctDeadlines(clock.db);
    await renewHosting(clock.db);
    await deleteUnneededFiles(clock.db, store);
  };
  const days = (count: number): string => `${count * 24} hours`;
  const paidDays = async ({ id }: HostedVersion): Promise<(number | null)[]> => {
    const transfers = database.db.selectFrom('transfers').selectAll().where('kind', '=', 'hosting');
    return (await transfers.where('version_id', '=', id).orderBy('id').execute()).map((each) => each.hosting_day);
  };
  const readVersion = async ({ id }: HostedVersion) =>
    clock.db
      .selectFrom('versions')
      .select([
        'retention_ended_at',
        sql<number>`extract(epoch from expires_at - now())::float8 / 3600`.as('hours_left'),
      ])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const isAlive = async (version: HostedVersion): Promise<boolean> => {
    const { retention_ended_at, hours_left } = await readVersion(version);
    return retention_ended_at === null && hours_left > 0 && hours_left <= 25;
  };
  const findFor = async ({ id }: HostedVersion): Promise<string> =>
    (await findAdapter(clock.db, store, id, anyModel)).kind;

  it('charges at most seven of the days that passed while nobody was there, and hosts for all of them', async () => {
    const version = await makeVersion();
    await clock.set(days(400));
    await round();
    assert.deepEqual(await paidDays(version), [1, 2, 3, 4, 5, 6, 7]);
    assert.ok(await isAlive(version));
    await clock.set(days(401));
    await round();
    assert.deepEqual((await paidDays(version)).slice(7), [401]);
  });

  it('was ahead and is set right: versions live on, and are not charged again for the days that they paid ahead', async () => {
    const version = await makeVersion();
    await clock.set(days(400));
    await round();
    for (const day of [0, 1, 2, 3, 4, 5, 6]) {
      await clock.set(days(day));
      await round();
      assert.ok(await isAlive(version), `on day ${day}`);
      assert.equal((await paidDays(version)).length, 7);
    }
    await clock.set(days(7));
    await round();
    assert.deepEqual(await paidDays(version), [1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('takes back what it ended while it was ahead, but not what an operator ended', async () => {
    // Past the retention of its project; without the money for a second day (of 1,000 bytes); and ended by hand.
    const unused = await makeVersion({ activate: false });
    const poor = await makeVersion({ credit_microusd: 1_000_001 });
    const ended = await makeVersion();
    const endedAhead = await makeVersion();
    await expireVersion(clock.db, ended.id);
    await clock.set(days(400));
    await round();
    await expireVersion(clock.db, endedAhead.id);
    for (const version of [unused, poor, ended, endedAhead]) assert.equal(await findFor(version), 'adapter_expired');

    await clock.set('0');
    for (const version of [ended, endedAhead])
      assert.equal(await findFor(version), 'adapter_expired', 'before a round');
    await round();
    assert.deepEqual([await isAlive(unused), await isAlive(poor)], [true, true]);
    assert.deepEqual([(await paidDays(unused)).length, (await paidDays(poor)).length], [1, 1]);
    for (const version of [ended, endedAhead]) {
      assert.equal(await findFor(version), 'adapter_expired');
      // "An expired version stays listed with its past `expires_at`."
      assert.ok((await readVersion(version)).hours_left <= 0);
    }
  });

  it('takes back what it ended as soon as it is asked for, before the next round', async () => {
    const version = await makeVersion({ activate: false });
    const activated = await makeVersion({ activate: false });
    await clock.set(days(400));
    await round();
    // Past the deadline that they had before.
    await clock.set('2 hours');
    const asked = await Promise.all(Array.from({ length: 4 }, () => findFor(version)));
    assert.deepEqual(asked, ['found', 'found', 'found', 'found']);
    const { project_id, id: versionId } = activated;
    const activation = { project_id, tenant_id: null, version_id: versionId, expected_version_id: null };
    assert.equal((await activateInNamespace(clock.db, activation)).kind, 'activated');
  });

  it('does not bring back a version whose files are deleted, however far it goes back', async () => {
    const version = await makeVersion({ activate: false });
    await clock.set(days(40));
    await round();
    await clock.set(days(48));
    await round();
    await clock.set(`${48 * 24 + 2} hours`);
    await round();
    assert.equal(await store.has(version.adapter_hash), false);
    await clock.set('0');
    await round();
    assert.equal(await findFor(version), 'adapter_expired');
    assert.notEqual((await readVersion(version)).retention_ended_at, null);
  });

  it('deletes no files because it jumps, before or after somebody notices', async () => {
    const version = await makeVersion({ activate: false });
    await expireVersion(clock.db, version.id);
    await clock.set(days(30));
    assert.equal(await deleteUnneededFiles(clock.db, store), 0, 'nobody has noticed');
    await round();
    await clock.set(`${30 * 24 + 0.9} hours`);
    await round();
    assert.ok(await store.has(version.adapter_hash));
    // It goes on steadily, so that it seems to be right.
    await clock.set(`${30 * 24 + 1.1} hours`);
    await round();
    assert.equal(await store.has(version.adapter_hash), false);
  });

  it('loses nothing when it goes back for a while', async () => {
    const [active, unused] = [await makeVersion(), await makeVersion({ activate: false })];
    await round();
    for (const hours of [-9600, -9590, -9570, 24]) {
      await clock.set(`${hours} hours`);
      await round();
    }
    for (const version of [active, unused]) {
      assert.ok(await isAlive(version));
      assert.deepEqual((await paidDays(version))[0], 1);
    }
  });

  it('charges no day twice: the database refuses the second transfer for one version and day', async () => {
    const { id, project_id } = await makeVersion();
    const transfer = {
      kind: 'hosting' as const,
      from_account: accountId('available', project_id),
      to_account: accountId('spent', project_id),
      amount_microusd: 1,
      version_id: id,
    };
    const insert = (rows: (typeof transfer & { hosting_day?: number })[]) =>
      database.db.insertInto('transfers').values(rows).execute();
    await insert([{ ...transfer, hosting_day: 3 }]);
    await assert.rejects(insert([{ ...transfer, hosting_day: 3 }]), /transfers_once_per_hosting_day/);
    // As a process of the release before writes it.
    await assert.rejects(insert([transfer, transfer]), /transfers_once_per_hosting_day/);
    await insert([transfer]);
    await assert.rejects(insert([transfer]), /transfers_once_per_hosting_day/);
    assert.deepEqual(await paidDays({ id, project_id, adapter_hash: '' }), [3, 1]);
    const movement = { from_account: issuedAccount, to_account: transfer.from_account, amount_microusd: 1 };
    const grant = { ...movement, kind: 'grant' as const, hosting_day: 4 };
    await assert.rejects(
      database.db.insertInto('transfers').values(grant).execute(),
      /transfers_name_the_day_they_host/,
    );
  });

  it('whatever it did, is harmless once it is right: versions live, and few days were paid ahead', async () => {
    const step = fc.record({
      days_passed: fc.integer({ min: 0, max: 3 }),
      ahead_days: fc.integer({ min: -500, max: 500 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        await clock.set('0');
        await observeClock(clock.db);
        const version = await makeVersion();
        let day = 0;
        for (const { days_passed, ahead_days } of steps) {
          day += days_passed;
          await clock.set(days(day + ahead_days));
          await round();
        }
        await clock.set(days(day));
        await round();
        assert.ok(await isAlive(version));
        assert.ok((await paidDays(version)).length <= day + 1 + 7 * (steps.length + 1));
      }),
      { numRuns: 15 },
    );
  });
});
