import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type Kysely, sql } from 'kysely';
import { openDatabase } from '../db/database.js';
import type { Database } from '../db/schema.js';
import { setProject } from '../projects/setProject.js';
import { buildTestApp, call, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestClock, type TestClock } from '../testing/testClock.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import type { RequestAllowance } from './requestAllowance.js';
import { takeRequests } from './takeRequests.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

async function createLimitedKey(requestsPerMinute: number): Promise<TestKey> {
  const projectId = await createTestProject(database.db);
  await setProject(database.db, projectId, { requests_per_minute: requestsPerMinute });
  return createTestKey(database.db, projectId);
}

async function takeRequest(db: Kysely<Database>, key: TestKey): Promise<RequestAllowance> {
  const [allowance] = await takeRequests(db, key, 1);
  assert.ok(allowance !== undefined);
  return allowance;
}

/** Lets time pass for a key, without waiting. */
async function age(key: TestKey, seconds: number): Promise<void> {
  await sql`update rate_limits set full_at = full_at - make_interval(secs => ${seconds}) where api_key_id = ${key.id}`.execute(
    database.db,
  );
}

describe('requests per minute', () => {
  test('as many are taken at once as the limit says, and then one for each step of the minute', async () => {
    const key = await createLimitedKey(6);
    const remaining: number[] = [];
    for (let request = 0; request < 6; request += 1) {
      const allowance = await takeRequest(database.db, key);
      assert.deepEqual([allowance.kind, allowance.limitRequests], ['taken', 6]);
      remaining.push(allowance.remainingRequests);
    }
    assert.deepEqual(remaining, [5, 4, 3, 2, 1, 0]);
    const refused = await takeRequest(database.db, key);
    assert.deepEqual([refused.kind, refused.remainingRequests], ['refused', 0]);
    assert.ok(refused.retryAfterMs > 0 && refused.retryAfterMs <= 10_000, `${refused.retryAfterMs}`);
    assert.ok(refused.resetMs > 50_000 && refused.resetMs <= 60_000, `${refused.resetMs}`);
    await age(key, 10);
    assert.equal((await takeRequest(database.db, key)).kind, 'taken');
    assert.equal((await takeRequest(database.db, key)).kind, 'refused');
    await age(key, 3_600);
    assert.equal((await takeRequest(database.db, key)).remainingRequests, 5);
  });

  test('a refused request is not counted', async () => {
    const key = await createLimitedKey(1);
    const kinds: string[] = [];
    for (let request = 0; request < 4; request += 1) kinds.push((await takeRequest(database.db, key)).kind);
    assert.deepEqual(kinds, ['taken', 'refused', 'refused', 'refused']);
    await age(key, 60);
    assert.equal((await takeRequest(database.db, key)).kind, 'taken');
  });

  test('simultaneous requests of several processes never pass the limit together', async () => {
    const key = await createLimitedKey(20);
    const other = openDatabase(database.url, { maxConnections: 8 });
    const allowances = await Promise.all(
      Array.from({ length: 60 }, (_, request) => takeRequest(request % 2 === 0 ? database.db : other, key)),
    );
    await other.destroy();
    // One more may be freed while they run.
    const taken = allowances.filter(({ kind }) => kind === 'taken').length;
    assert.ok(taken === 20 || taken === 21, `${taken}`);
  });

  test('requests that are counted together are taken and refused as they would be one after another', async () => {
    // The steps of the minute are seconds long, beside which the time that the test itself takes is nothing.
    const limit = fc.constantFrom(1, 3, 6, 7, 11);
    const together = fc.array(fc.record({ count: fc.integer({ min: 1, max: 15 }), steps: fc.nat(4) }), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(limit, together, async (perMinute, batches) => {
        const [key, other] = [await createLimitedKey(perMinute), await createLimitedKey(perMinute)];
        for (const { count, steps } of batches) {
          const atOnce = await takeRequests(database.db, key, count);
          const inTurn: RequestAllowance[] = [];
          while (inTurn.length < count) inTurn.push(await takeRequest(database.db, other));
          const shown = ({ kind, limitRequests, remainingRequests }: RequestAllowance) => ({
            kind,
            limitRequests,
            remainingRequests,
          });
          assert.deepEqual(atOnce.map(shown), inTurn.map(shown));
          for (const [index, { resetMs, retryAfterMs }] of atOnce.entries()) {
            const alone = inTurn[index];
            assert.ok(alone !== undefined);
            assert.ok(Math.abs(resetMs - alone.resetMs) < 2_000 && Math.abs(retryAfterMs - alone.retryAfterMs) < 2_000);
          }
          await age(key, (steps * 60) / perMinute);
          await age(other, (steps * 60) / perMinute);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('"`requests_per_minute` per key": each key has its own, and a changed setting holds from the next request', async () => {
    const key = await createLimitedKey(1);
    const second = await createTestKey(database.db, key.project_id);
    assert.equal((await takeRequest(database.db, key)).kind, 'taken');
    assert.equal((await takeRequest(database.db, second)).kind, 'taken');
    assert.equal((await takeRequest(database.db, key)).kind, 'refused');
    await setProject(database.db, key.project_id, { requests_per_minute: 120 });
    assert.equal((await takeRequest(database.db, key)).kind, 'refused');
    await age(key, 1);
    assert.equal((await takeRequest(database.db, key)).kind, 'taken');
  });
});

describe('a clock that jumps', () => {
  let clock: TestClock;
  before(async () => (clock = await openTestClock(database)));
  after(() => clock.close());

  test('back by an hour does not refuse a key for an hour', async () => {
    const key = await createLimitedKey(1);
    assert.equal((await takeRequest(clock.db, key)).kind, 'taken');
    await clock.set('-1 hour');
    assert.equal((await takeRequest(clock.db, key)).kind, 'taken');
    const refused = await takeRequest(clock.db, key);
    assert.equal(refused.kind, 'refused');
    assert.ok(refused.retryAfterMs <= 60_000, `${refused.retryAfterMs}`);
  });

  test('by a little keeps what was taken, and nobody is told to wait longer than a minute', async () => {
    await clock.set('0');
    const key = await createLimitedKey(1);
    assert.equal((await takeRequest(clock.db, key)).kind, 'taken');
    await clock.set('-15 seconds');
    const refused = await takeRequest(clock.db, key);
    assert.equal(refused.kind, 'refused');
    assert.ok(refused.retryAfterMs <= 60_000 && refused.resetMs <= 60_000, `${refused.retryAfterMs}`);
  });

  test('by a little, who waits as long as they are told is taken', async () => {
    for (const requestsPerMinute of [1, 6]) {
      await clock.set('0');
      const key = await createLimitedKey(requestsPerMinute);
      for (let request = 0; request < requestsPerMinute; request += 1) await takeRequest(clock.db, key);
      await clock.set('-15 seconds');
      const refused = await takeRequest(clock.db, key);
      assert.equal(refused.kind, 'refused');
      await clock.set(`${Math.ceil(refused.retryAfterMs / 1000) - 15} seconds`);
      assert.equal((await takeRequest(clock.db, key)).kind, 'taken', `${refused.retryAfterMs} ms`);
    }
  });

  test('by anything, leaves a bucket that refills evenly', async () => {
    // In steps of the refill, beside which the time that the test itself takes is nothing.
    const jump = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -10_000, max: 10_000 }));
    const stepSeconds = 20;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(jump), { maxLength: 30 }), async (jumps) => {
        const key = await createLimitedKey(60 / stepSeconds);
        let [nowSeconds, fullAtSeconds] = [0, -Infinity];
        await clock.set('0');
        for (const steps of jumps) {
          if (steps !== null) {
            nowSeconds += steps * stepSeconds;
            await clock.set(`${nowSeconds} seconds`);
            continue;
          }
          const allowance = await takeRequest(clock.db, key);
          if (fullAtSeconds > nowSeconds + 80) fullAtSeconds = nowSeconds;
          const nextSeconds = Math.max(fullAtSeconds, nowSeconds) + stepSeconds;
          const free = nextSeconds <= nowSeconds + 60;
          if (free) fullAtSeconds = nextSeconds;
          assert.equal(allowance.kind, free ? 'taken' : 'refused');
          assert.ok(allowance.retryAfterMs <= stepSeconds * 1_000 && allowance.resetMs <= 60_000);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('"429: rate limited"', () => {
  test('`rate_limited` is retryable: "with `Retry-After` and the `x-ratelimit-*` headers that OpenAI clients read", on successes too', async () => {
    const key = await createLimitedKey(2);
    const { app } = buildTestApp(database.db);
    const get = () => call(app, 'GET', '/v1/subjects', { key });
    const first = await get();
    assert.equal(first.statusCode, 200);
    assert.equal(first.headers['x-ratelimit-limit-requests'], '2');
    assert.equal(first.headers['x-ratelimit-remaining-requests'], '1');
    assert.equal(first.headers['x-ratelimit-reset-requests'], '30s');
    assert.equal(first.headers['retry-after'], undefined);
    await get();
    const refused = await get();
    assert.equal(refused.statusCode, 429);
    const { error } = refused.json<{ error: Record<string, unknown> }>();
    assert.deepEqual([error['code'], error['retryable']], ['rate_limited', true]);
    assert.equal(error['request_id'], refused.headers['x-request-id']);
    assert.equal(refused.headers['x-ratelimit-remaining-requests'], '0');
    assert.match(String(refused.headers['x-ratelimit-reset-requests']), /^\d+(\.\d+)?s$/);
    const retryAfterS = Number(refused.headers['retry-after']);
    assert.ok(Number.isInteger(retryAfterS) && retryAfterS >= 1 && retryAfterS <= 30);
    await age(key, retryAfterS);
    assert.equal((await get()).statusCode, 200);
    await app.close();
  });

  test('a restart or a second process neither resets nor doubles the count', async () => {
    const key = await createLimitedKey(3);
    const statuses: number[] = [];
    for (let process = 0; process < 2; process += 1) {
      const db = openDatabase(database.url, { maxConnections: 1 });
      const { app } = buildTestApp(db);
      for (let request = 0; request < 2; request += 1) {
        statuses.push((await call(app, 'GET', '/v1/subjects', { key })).statusCode);
      }
      await app.close();
      await db.destroy();
    }
    assert.deepEqual(statuses, [200, 200, 200, 429]);
  });

  test('"key → scope → rate → body size": a refused scope does not count, an oversized body does', async () => {
    const key = await createLimitedKey(1);
    const reader = await createTestKey(database.db, key.project_id, { scopes: ['read'] });
    const { app } = buildTestApp(database.db);
    const post = async (withKey: TestKey) =>
      (await call(app, 'POST', '/v1/inferences', { key: withKey, body: '['.repeat(100_001) })).statusCode;
    assert.deepEqual([await post(reader), await post(reader)], [403, 403]);
    assert.equal((await call(app, 'GET', '/v1/subjects', { key: reader })).statusCode, 200);
    assert.deepEqual([await post(key), await post(key)], [413, 429]);
    await app.close();
  });
});
