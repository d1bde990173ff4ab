import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { pino } from 'pino';
import type { Database } from '../db/schema.js';
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
    await database.db.transaction().execute(async (trx) => {
      await sql`select from jobs where id = ${job.job_id} for update`.execute(trx);
      // Not before: Node's mock loses a timer when the pool clears one that it set in the test above.
      context.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() - 3_600_000 });
      const lease = keepLease(database.db, job, leaseMs, pino({ level: 'silent' }));
      context.mock.timers.tick(leaseMs);
      assert.ok(lease.signal.reason instanceof LeaseLost);
      context.mock.timers.reset();
    });
  });

  it('stays with the run though the first attempts to extend it hang', async () => {
    const leaseMs = 2_500;
    const job = await claim(leaseMs);
    const hung = withHungAttempts(database.db, 2);
    const lease = keepLease(hung, job, leaseMs, pino({ level: 'silent' }));
    await setTimeout(2 * leaseMs);
    assert.equal(lease.signal.aborted, false);
    lease.stop();
    const stillHeld = await sql<{ held: boolean }>`
      select lease_expires_at > now() as held from jobs where id = ${job.job_id}`.execute(database.db);
    assert.equal(stillHeld.rows[0]?.held, true);
  });

  it('has no more than three attempts under way at once', async (context) => {
    const leaseMs = 60_000;
    const job = await claim(leaseMs);
    let attempts = 0;
    const hung = withHungAttempts(database.db, Infinity, () => (attempts += 1));
    context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const lease = keepLease(hung, job, leaseMs, pino({ level: 'silent' }));
    context.mock.timers.tick(leaseMs - 1_000);
    context.mock.timers.reset();
    lease.stop();
    assert.equal(attempts, 3);
  });
});

/** A fault injector: the first updates of this database are never answered. */
function withHungAttempts(db: Kysely<Database>, hanging: number, onAttempt?: () => void): Kysely<Database> {
  let attempts = 0;
  return new Proxy(db, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property !== 'updateTable' || typeof value !== 'function') return value;
      return (table: 'jobs') => {
        onAttempt?.();
        attempts += 1;
        const query = target.updateTable(table);
        return attempts > hanging ? query : neverAnswered(query);
      };
    },
  });
}

function neverAnswered<Query extends object>(query: Query): Query {
  return new Proxy(query, {
    get(target, property) {
      if (property === 'executeTakeFirstOrThrow') return () => new Promise(() => undefined);
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const next: unknown = Reflect.apply(value, target, args);
        return typeof next === 'object' && next !== null ? neverAnswered(next) : next;
      };
    },
  });
}
