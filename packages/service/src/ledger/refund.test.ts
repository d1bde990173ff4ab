import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion, type TestVersion } from '../testing/testVersion.js';
import { accountId, readBalance } from './accounts.js';
import { refundHosting, refundJob } from './refund.js';
import { verifyLedger } from './verifyLedger.js';

const chargedMicrousd = 1_000_000;
const creditMicrousd = 10_000_000;
const memo = 'the clock was wrong';

let database: TestDatabase;
let key: TestKey;
/** Its job was charged 1 USD. */
let version: TestVersion;
before(async () => {
  database = await openTestDatabase();
  key = await createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
  version = await createTestVersion(database.db, key);
});
after(async () => {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
  await database.close();
});

const refundsOf = (column: 'job_id' | 'version_id', id: string) =>
  database.db
    .selectFrom('transfers')
    .select(['amount_microusd', 'hosting_day', 'memo'])
    .where(column, '=', id)
    .where('kind', '=', 'refund')
    .orderBy('id')
    .execute();

describe('a refund of a job', () => {
  const refund = (jobId: string, amountMicrousd?: number) =>
    refundJob(database.db, {
      job_id: jobId,
      memo,
      ...(amountMicrousd === undefined ? {} : { amount_microusd: amountMicrousd }),
    });

  test('gives back at most what the job was charged', async () => {
    const before = await readBalance(database.db, key.project_id);
    const above = { kind: 'above_charge', charged_microusd: chargedMicrousd };
    assert.deepEqual(await refund(version.job_id, chargedMicrousd + 1), above);
    const open = await admitTestLearning(database.db, key);
    assert.deepEqual(await refund(open), { kind: 'above_charge', charged_microusd: 0 });
    assert.deepEqual(await refund('job_none'), { kind: 'not_found' });
    for (const amountMicrousd of [0, -1, 0.5, Number.NaN])
      await assert.rejects(refund(version.job_id, amountMicrousd), RangeError);
    assert.deepEqual((await readBalance(database.db, key.project_id)).spent_microusd, before.spent_microusd);
  });

  test('is made once, however many ask for it at once', async () => {
    const { job_id } = await createTestVersion(database.db, key, { subject_id: 'raced' });
    const before = await readBalance(database.db, key.project_id);
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => refund(job_id, 400_000)));
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), [
      'refunded',
      ...Array.from({ length: 5 }, () => 'refunded_before'),
    ]);
    assert.deepEqual(await refundsOf('job_id', job_id), [{ amount_microusd: 400_000, hosting_day: null, memo }]);
    const { project_id } = key;
    assert.deepEqual(await refund(job_id), { kind: 'refunded_before', project_id, refunded_microusd: 400_000 });
    const { available_microusd, spent_microusd, reserved_microusd } = before;
    assert.deepEqual(await readBalance(database.db, project_id), {
      available_microusd: available_microusd + 400_000,
      spent_microusd: spent_microusd - 400_000,
      reserved_microusd,
    });
  });

  test('is of all that was charged, if no amount is given', async () => {
    const { job_id } = await createTestVersion(database.db, key, { subject_id: 'whole' });
    const refunded = { kind: 'refunded', project_id: key.project_id, refunded_microusd: chargedMicrousd };
    assert.deepEqual(await refund(job_id), refunded);
  });
});

describe('a refund of hosting', () => {
  /** Charges days of hosting as a worker does, 7 micro-USD each, at a time of its own. */
  async function host(hosted: TestVersion, days: readonly number[], chargedAt: string): Promise<void> {
    const day = {
      kind: 'hosting' as const,
      from_account: accountId('available', key.project_id),
      to_account: accountId('spent', key.project_id),
      amount_microusd: 7,
      version_id: hosted.id,
      created_at: new Date(chargedAt),
    };
    await database.db
      .insertInto('transfers')
      .values(days.map((hostingDay) => ({ ...day, hosting_day: hostingDay })))
      .execute();
  }
  const refund = (since: string, versionId?: string) =>
    refundHosting(database.db, {
      project_id: key.project_id,
      charged_since: new Date(since),
      memo,
      ...(versionId === undefined ? {} : { version_id: versionId }),
    });

  test('gives back each day once, of those charged since a time', async () => {
    const other = await createTestVersion(database.db, key, { subject_id: 'other' });
    await host(version, [1, 2], '2027-01-01T00:00:00Z');
    await host(version, [3, 4], '2027-02-01T00:00:00Z');
    await host(other, [1], '2027-02-01T00:00:00Z');
    assert.deepEqual(await refund('2027-02-01T00:00:00Z', version.id), { days: 2, refunded_microusd: 14 });
    assert.deepEqual(await refund('2027-02-01T00:00:00Z'), { days: 1, refunded_microusd: 7 });
    assert.deepEqual(await refund('2027-02-01T00:00:00Z'), { days: 0, refunded_microusd: 0 });
    const raced = await Promise.all(Array.from({ length: 4 }, () => refund('2026-12-31T00:00:00Z')));
    assert.equal(
      raced.reduce((days, each) => days + each.days, 0),
      2,
    );
    assert.deepEqual(
      (await refundsOf('version_id', version.id)).map((each) => each.hosting_day),
      [3, 4, 1, 2],
    );
    assert.deepEqual(await refundsOf('version_id', other.id), [{ amount_microusd: 7, hosting_day: 1, memo }]);
  });

  test('leaves other projects alone', async () => {
    const stranger = await createTestProject(database.db);
    await host(version, [5], '2027-02-01T00:00:00Z');
    const refunded = await refundHosting(database.db, {
      project_id: stranger,
      version_id: version.id,
      charged_since: new Date(0),
      memo,
    });
    assert.deepEqual(refunded, { days: 0, refunded_microusd: 0 });
  });
});
