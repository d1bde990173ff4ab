import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { claimJob } from '../jobs/claimJob.js';
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

  it('ends the run when it ends, though the database has not answered yet', async (context) => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    await admitTestLearning(database.db, key);
    const lease_ms = 9_000;
    const job = await claimJob(database.db, { worker_id: 'slow', kind: 'internalization', lease_ms });
    assert.ok(job !== null);
    await database.db.transaction().execute(async (trx) => {
      // Whoever wants to extend the lease waits for this transaction.
      await sql`select from jobs where id = ${job.job_id} for update`.execute(trx);
      context.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: job.held_until_ms - lease_ms });
      // The claim itself took a second to come back.
      context.mock.timers.tick(1_000);
      const lease = keepLease(database.db, job, lease_ms, pino({ level: 'silent' }));
      context.mock.timers.tick(7_999);
      assert.equal(lease.signal.aborted, false);
      context.mock.timers.tick(1);
      assert.ok(lease.signal.reason instanceof LeaseLost);
      context.mock.timers.reset();
    });
  });
});
