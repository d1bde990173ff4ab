import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { claimJob, type ClaimedJob } from '../jobs/claimJob.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { LeaseLost } from './jobContext.js';
import { keepLease } from './keepLease.js';

describe('a lease', () => {
  let database: TestDatabase;
  before(async () => {
    database = await openTestDatabase();
  });
  after(() => database.close());

  async function claim(leaseMs: number): Promise<ClaimedJob> {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    await admitTestLearning(database.db, key);
    const job = await claimJob(database.db, { worker_id: 'slow', kind: 'internalization', leaseMs });
    assert.ok(job !== null);
    return job;
  }

  it('ends the run when it ends, though the database has not answered yet', async (context) => {
    const leaseMs = 60_000;
    const job = await claim(leaseMs);
    await database.db.transaction().execute(async (trx) => {
      // Whoever wants to extend the lease waits for this transaction.
      await sql`select from jobs where id = ${job.job_id} for update`.execute(trx);
      context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
      // As if the claim itself had taken 20 seconds to come back.
      const heldUntilMs = performance.now() + 40_000;
      const lease = keepLease(database.db, { ...job, held_until_ms: heldUntilMs }, leaseMs, pino({ level: 'silent' }));
      context.mock.timers.tick(20_000);
      assert.equal(lease.signal.aborted, false);
      context.mock.timers.tick(20_000);
      assert.ok(lease.signal.reason instanceof LeaseLost);
      context.mock.timers.reset();
    });
  });

  it('ends the run when it ends, though the clock of this machine goes back meanwhile', async (context) => {
    const leaseMs = 9_000;
    const job = await claim(leaseMs);
    context.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() - 3_600_000 });
    await database.db.transaction().execute(async (trx) => {
      await sql`select from jobs where id = ${job.job_id} for update`.execute(trx);
      const lease = keepLease(database.db, job, leaseMs, pino({ level: 'silent' }));
      context.mock.timers.tick(leaseMs);
      assert.ok(lease.signal.reason instanceof LeaseLost);
      context.mock.timers.reset();
    });
  });
});
