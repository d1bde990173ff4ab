import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { inTransaction, RolledBack } from '../db/transaction.js';
import { newId } from '../ids.js';
import { insertJob } from '../jobs/insertJob.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { readBalance } from './accounts.js';
import { grantCredit } from './grantCredit.js';
import { reserve, type ReserveOutcome } from './reserve.js';
import { settleReservation } from './settleReservation.js';
import { verifyLedger } from './verifyLedger.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

/** A queued inference job with a row and a reservation, as admission makes it; no row if there is too little credit. */
async function reserveJob(key: TestKey, jobId: string, amountMicrousd: number): Promise<ReserveOutcome['kind']> {
  return inTransaction<ReserveOutcome['kind']>(database.db, null, async (trx) => {
    await insertJob(trx, {
      id: jobId,
      project_id: key.project_id,
      tenant_id: null,
      subject_ref: null,
      subject_name: 'default',
      api_key_id: key.id,
      adapter_version: 'base',
      request: { kind: 'internalization', content: '', max_cost_microusd: 1, activate: true },
      pricing_version: 'test',
      reserved_microusd: amountMicrousd,
    });
    const { kind } = await reserve(trx, { project_id: key.project_id, job_id: jobId, amount_microusd: amountMicrousd });
    return kind === 'reserved' ? kind : new RolledBack(kind);
  });
}

async function settleJob(key: TestKey, jobId: string, chargedMicrousd: number): Promise<void> {
  await inTransaction(database.db, null, async (trx) => {
    await settleReservation(trx, { project_id: key.project_id, job_id: jobId, charged_microusd: chargedMicrousd });
    await trx
      .updateTable('jobs')
      .set({ status: 'succeeded', settled: true, compute_microusd: chargedMicrousd })
      .where('id', '=', jobId)
      .execute();
  });
}

async function newProject(creditMicrousd: number): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
}

async function assertLedgerHolds(): Promise<void> {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
}

describe('double entry', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('grant'), amount: fc.integer({ min: 1, max: 1_000 }) }),
    fc.record({ kind: fc.constant('reserve'), amount: fc.integer({ min: 1, max: 1_000 }) }),
    fc.record({ kind: fc.constant('settle'), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  );

  test('"the sum over all accounts is zero at every moment, and no project\'s available balance is ever negative"', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const key = await newProject(0);
        const { project_id } = key;
        const expected = { available_microusd: 0, reserved_microusd: 0, spent_microusd: 0 };
        const open: { job_id: string; amount: number }[] = [];
        for (const next of steps) {
          if ('share' in next) {
            const job = open.shift();
            if (job === undefined) continue;
            const charged = Math.floor(job.amount * next.share);
            await settleJob(key, job.job_id, charged);
            expected.reserved_microusd -= job.amount;
            expected.available_microusd += job.amount - charged;
            expected.spent_microusd += charged;
          } else if (next.kind === 'grant') {
            await grantCredit(database.db, { project_id, amount_microusd: next.amount, memo: 'test' });
            expected.available_microusd += next.amount;
          } else {
            const jobId = newId('job');
            const affordable = expected.available_microusd >= next.amount;
            const kind = await reserveJob(key, jobId, next.amount);
            assert.equal(kind, affordable ? 'reserved' : 'insufficient_credits');
            if (!affordable) continue;
            open.push({ job_id: jobId, amount: next.amount });
            expected.available_microusd -= next.amount;
            expected.reserved_microusd += next.amount;
          }
          assert.deepEqual(await readBalance(database.db, project_id), expected);
        }
      }),
      { numRuns: 25 },
    );
    await assertLedgerHolds();
  });

  test('simultaneous reservations never overdraw: as many succeed as the credit covers', async () => {
    const key = await newProject(1_000);
    const kinds = await Promise.all(Array.from({ length: 24 }, () => reserveJob(key, newId('job'), 100)));
    assert.equal(kinds.filter((kind) => kind === 'reserved').length, 10);
    const balance = await readBalance(database.db, key.project_id);
    assert.deepEqual(balance, { available_microusd: 0, reserved_microusd: 1_000, spent_microusd: 0 });
    await assertLedgerHolds();
  });

  test('simultaneous grants, reservations and settlements of one project neither deadlock nor lose money', async () => {
    const key = await newProject(10_000);
    const jobs = Array.from({ length: 12 }, () => newId('job'));
    for (const jobId of jobs) assert.equal(await reserveJob(key, jobId, 100), 'reserved');
    await Promise.all([
      ...jobs.map((jobId) => settleJob(key, jobId, 40)),
      ...jobs.map(() => reserveJob(key, newId('job'), 10)),
      ...jobs.map(() =>
        grantCredit(database.db, { project_id: key.project_id, amount_microusd: 5, memo: 'while others work' }),
      ),
    ]);
    assert.deepEqual(await readBalance(database.db, key.project_id), {
      available_microusd: 10_000 + 12 * 5 - 12 * 10 - 12 * 40,
      reserved_microusd: 12 * 10,
      spent_microusd: 12 * 40,
    });
    await assertLedgerHolds();
  });
});

describe('a reservation "is a pending transfer that is later posted (up to its amount) or voided"', () => {
  test('it is posted in full, in part, or not at all; an amount of zero makes no transfer', async () => {
    for (const [charged, kinds] of [
      [100, ['post', 'reserve']],
      [30, ['post', 'reserve', 'void']],
      [0, ['reserve', 'void']],
    ] as const) {
      const key = await newProject(100);
      const jobId = newId('job');
      await reserveJob(key, jobId, 100);
      await settleJob(key, jobId, charged);
      const transfers = await database.db.selectFrom('transfers').select('kind').where('job_id', '=', jobId).execute();
      assert.deepEqual(transfers.map(({ kind }) => kind).sort(), kinds);
      const balance = await readBalance(database.db, key.project_id);
      assert.deepEqual(balance, {
        available_microusd: 100 - charged,
        reserved_microusd: 0,
        spent_microusd: charged,
      });
    }
    await assertLedgerHolds();
  });

  test('a charge above it, below zero or of a fraction throws, and nothing moves', async () => {
    const key = await newProject(100);
    const jobId = newId('job');
    await reserveJob(key, jobId, 100);
    for (const charged of [101, -1, 0.5, Number.NaN]) await assert.rejects(settleJob(key, jobId, charged), RangeError);
    assert.equal((await readBalance(database.db, key.project_id)).reserved_microusd, 100);
  });

  test('it is settled once', async () => {
    const key = await newProject(100);
    const jobId = newId('job');
    await reserveJob(key, jobId, 100);
    const settlements = await Promise.allSettled([settleJob(key, jobId, 60), settleJob(key, jobId, 60)]);
    assert.deepEqual(settlements.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal((await readBalance(database.db, key.project_id)).spent_microusd, 60);
  });

  test('a job of another project cannot be settled', async () => {
    const [key, other] = [await newProject(100), await newProject(100)];
    const jobId = newId('job');
    await reserveJob(key, jobId, 100);
    await assert.rejects(settleJob(other, jobId, 60), /no open reservation/);
  });
});

describe('the database enforces both', () => {
  test('a transfer that would overdraw is refused, whoever writes it', async () => {
    const key = await newProject(1_000_000);
    const { id } = await createTestVersion(database.db, key);
    const overdraft = sql`
      insert into transfers (kind, from_account, to_account, amount_microusd, version_id)
      values ('hosting', ${`available:${key.project_id}`}, ${`spent:${key.project_id}`}, 1, ${id})`;
    await assert.rejects(overdraft.execute(database.owner), /relation "accounts" violates check constraint/);
  });

  test('every movement is a transfer between two accounts, immutable', async () => {
    const key = await newProject(100);
    await assert.rejects(sql`update transfers set amount_microusd = 1`.execute(database.owner), /immutable/);
    await assert.rejects(sql`delete from transfers`.execute(database.owner), /immutable/);
    await assert.rejects(
      sql`update accounts set balance_microusd = 5 where project_id = ${key.project_id}`.execute(database.owner),
      /moved by a transfer only/,
    );
  });

  test('a grant after which amounts were no longer exact is refused, and changes nothing', async () => {
    const own = await openTestDatabase({ maxConnections: 2 });
    try {
      const [first, second] = [await createTestProject(own.db, 1_000), await createTestProject(own.db, 0)];
      const grant = (projectId: string, amountMicrousd: number) =>
        grantCredit(own.db, { project_id: projectId, amount_microusd: amountMicrousd, memo: 'test' });
      assert.deepEqual(await grant(first, Number.MAX_SAFE_INTEGER - 999), { kind: 'too_much' });
      assert.deepEqual(await grant(first, Number.MAX_SAFE_INTEGER - 1_100), { kind: 'granted' });
      // More than was ever issued can be read exactly.
      assert.deepEqual(await grant(second, 101), { kind: 'too_much' });
      assert.deepEqual(await grant(second, 100), { kind: 'granted' });
      assert.equal((await readBalance(own.db, first)).available_microusd, Number.MAX_SAFE_INTEGER - 100);
      assert.deepEqual((await verifyLedger(own.db)).differences, []);
    } finally {
      await own.close();
    }
  });

  test('amounts are positive integers', async () => {
    const key = await newProject(0);
    for (const amountMicrousd of [0, -1, 0.5, 2 ** 53]) {
      await assert.rejects(
        grantCredit(database.db, { project_id: key.project_id, amount_microusd: amountMicrousd, memo: 'test' }),
        RangeError,
      );
    }
  });
});

describe('verifyLedger "recomputes every balance and invariant from the entries"', () => {
  /** Damages a ledger of its own behind the back of every guard, and returns the differences found. */
  async function differencesAfter(damage: (own: TestDatabase, key: TestKey, jobId: string) => Promise<unknown>) {
    const own = await openTestDatabase({ maxConnections: 1 });
    const outer = database;
    try {
      database = own;
      const key = await newProject(1_000);
      const jobId = newId('job');
      await reserveJob(key, jobId, 100);
      await settleJob(key, jobId, 60);
      assert.deepEqual(await verifyLedger(own.db), { ok: true, projects: 1, transfers: 4, differences: [] });
      await sql`set session_replication_role = replica`.execute(own.owner);
      await damage(own, key, jobId);
      const report = await verifyLedger(own.db);
      assert.equal(report.ok, report.differences.length === 0);
      return report.differences;
    } finally {
      database = outer;
      await own.close();
    }
  }

  test('a balance that its transfers do not explain', async () => {
    const differences = await differencesAfter(({ owner }, { project_id }) =>
      sql`update accounts set balance_microusd = 1 where id = ${`spent:${project_id}`}`.execute(owner),
    );
    assert.match(differences.join('\n'), /account spent:.* holds 1 micro-USD; its transfers add up to 60/);
    assert.match(differences.join('\n'), /all accounts together hold -59 micro-USD/);
  });

  test('a job that was charged something else than was posted', async () => {
    const differences = await differencesAfter(({ owner }, _key, jobId) =>
      owner.updateTable('jobs').set({ compute_microusd: 61 }).where('id', '=', jobId).execute(),
    );
    assert.match(differences.join('\n'), /was charged 61 micro-USD; 60 were posted/);
  });

  test('a job that was refunded more than it was charged', async () => {
    const differences = await differencesAfter(async ({ owner }, { project_id }, jobId) => {
      await sql`insert into transfers (kind, from_account, to_account, amount_microusd, job_id)
        values ('refund', ${`spent:${project_id}`}, ${`available:${project_id}`}, 61, ${jobId})`.execute(owner);
    });
    assert.match(differences.join('\n'), /refunds 61 micro-USD of job .*, which was charged 60/);
  });

  test('a month whose sum its transfers do not explain', async () => {
    const differences = await differencesAfter(({ owner }) =>
      sql`update monthly_spending set learning_microusd = 61`.execute(owner),
    );
    const month = new Date().toISOString().slice(0, 7);
    const [difference] = differences;
    assert.match(difference ?? '', new RegExp(`spent 60 micro-USD in ${month}, 61 of it for learning; .* 60 and 60$`));
  });

  test('a job without its reservation, and an open one whose reservation is gone', async () => {
    const differences = await differencesAfter(async ({ owner }, _key, jobId) => {
      await sql`delete from transfers where kind = 'reserve' and job_id = ${jobId}`.execute(owner);
    });
    assert.match(differences.join('\n'), /has 0 reservations instead of 1/);
    const reopened = await differencesAfter(async ({ owner }, _key, jobId) => {
      await sql`update jobs set status = 'running', settled = false where id = ${jobId}`.execute(owner);
    });
    assert.match(reopened.join('\n'), /is not settled, but 100 micro-USD left its reservation/);
    assert.match(reopened.join('\n'), /holds 0 micro-USD reserved; its open reservations add up to 100/);
  });
});
