import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { newKeySecret } from '../keys/keySecret.js';
import { revokeKey } from '../keys/revokeKey.js';
import { buildTestApp, createTestKey, createTestProject, type TestApp, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

let database: TestDatabase;
let projectId: string;
before(async () => {
  database = await openTestDatabase();
  projectId = await createTestProject(database.db);
});
after(() => database.close());

let nowMs: number;
let service: TestApp;
let metrics: Registry;
let readinessAsked: number;
beforeEach(() => {
  nowMs = 5_000;
  metrics = new Registry();
  readinessAsked = 0;
  const readiness = async (): Promise<string[]> => {
    readinessAsked += 1;
    await new Promise(setImmediate);
    return readinessAsked === 2 ? ['engine'] : [];
  };
  service = buildTestApp(database.db, { nowMs: () => nowMs, metrics, readiness });
});

interface From {
  readonly secret?: string;
  readonly address?: string;
}

function get(url: string, { secret, address = '192.0.2.1' }: From = {}): Promise<LightMyRequestResponse> {
  const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  return service.app.inject({ method: 'GET', url, headers, remoteAddress: address });
}

/** The statuses of so many requests, and how often each came. */
async function flood(requests: number, ask: () => Promise<LightMyRequestResponse>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { statusCode } of await Promise.all(Array.from({ length: requests }, ask))) {
    counts[statusCode] = (counts[statusCode] ?? 0) + 1;
  }
  return counts;
}

const guess = (address?: string) => () =>
  get('/v1/models', { secret: newKeySecret(), ...(address === undefined ? {} : { address }) });

describe('keys that are not valid', () => {
  test('are refused beyond a limit by address, with "`Retry-After` and the `x-ratelimit-*` headers"', async () => {
    assert.deepEqual(await flood(1_200, guess()), { 401: 1_000, 429: 200 });
    const refused = await guess()();
    const { error } = refused.json<{ error: Record<string, unknown> }>();
    assert.deepEqual([refused.statusCode, error['code'], error['retryable']], [429, 'rate_limited', true]);
    assert.match(String(error['message']), /from this address/);
    assert.equal(error['request_id'], refused.headers['x-request-id']);
    const { headers } = refused;
    assert.deepEqual(
      [headers['x-ratelimit-limit-requests'], headers['x-ratelimit-remaining-requests'], headers['retry-after']],
      ['1000', '0', '1'],
    );
    nowMs += 1_000;
    assert.deepEqual(await flood(30, guess()), { 401: 20, 429: 10 });
  });

  test('count for their address alone, in IPv6 for its network', async () => {
    await flood(1_000, guess('2001:db8::1'));
    assert.deepEqual(await flood(1, guess('2001:db8::ffff')), { 429: 1 });
    assert.deepEqual(await flood(1, guess('2001:db8:0:1::1')), { 401: 1 });
    assert.deepEqual(await flood(1, guess('::ffff:192.0.2.1')), { 401: 1 });
  });

  test('never lead to the refusal of a valid key from their address, whether it is in use or new', async () => {
    const [used, fresh] = [await createTestKey(database.db, projectId), await createTestKey(database.db, projectId)];
    const status = async ({ secret }: TestKey): Promise<number> => (await get('/v1/models', { secret })).statusCode;
    assert.equal(await status(used), 200);
    await flood(1_000, guess());
    const [guesses, ...statuses] = await Promise.all([flood(50, guess()), status(used), status(fresh)]);
    assert.deepEqual([guesses, ...statuses], [{ 429: 50 }, 200, 200]);
    const allowed = await get('/v1/models', { secret: fresh.secret });
    assert.deepEqual([allowed.statusCode, allowed.headers['retry-after']], [200, undefined]);
  });

  test('do not include valid ones, which count for nothing', async () => {
    await flood(999, guess());
    const fresh = await createTestKey(database.db, projectId);
    assert.equal((await get('/v1/models', fresh)).statusCode, 200);
    assert.deepEqual(await flood(2, guess()), { 401: 1, 429: 1 });
  });

  test('include one that was revoked a moment ago: it is refused at once, and then counts as any other', async () => {
    const revoked = await createTestKey(database.db, projectId);
    assert.equal((await get('/v1/models', revoked)).statusCode, 200);
    await flood(1_000, guess());
    assert.equal((await get('/v1/models', revoked)).statusCode, 200);
    await revokeKey(database.db, revoked.id);
    assert.equal((await get('/v1/models', revoked)).statusCode, 401);
    assert.equal((await get('/v1/models', revoked)).statusCode, 429);
  });

  test('that cannot be keys have more room, and a limit of their own', async () => {
    assert.deepEqual(await flood(5_010, () => get('/v1/models')), { 401: 5_000, 429: 10 });
    assert.deepEqual(await flood(1, () => get('/v1/models', { secret: 'nonsense' })), { 429: 1 });
    assert.deepEqual(await flood(1, guess()), { 401: 1 });
    assert.equal((await get('/v1/nothing')).statusCode, 404);
  });
});

describe('operations', () => {
  test('that cost something have a limit by address; probes are answered in any case', async () => {
    assert.deepEqual(await flood(1_010, () => get('/metrics')), { 200: 1_000, 429: 10 });
    assert.equal((await get('/openapi.json')).statusCode, 429);
    assert.deepEqual(await flood(1_010, () => get('/healthz')), { 200: 1_010 });
    assert.equal((await get('/readyz')).statusCode, 200);
    assert.equal((await get('/metrics', { address: '192.0.2.2' })).statusCode, 200);
    assert.deepEqual(await flood(1, guess()), { 401: 1 });
  });

  test('are answered late when they come too often, so that others come first', async () => {
    await flood(1_000, () => get('/healthz'));
    const late = get('/healthz').then(() => 'late');
    const other = get('/healthz', { address: '192.0.2.2' }).then(() => 'other');
    assert.equal(await Promise.race([late, other]), 'other');
    assert.equal(await late, 'late');
  });

  test('write the metrics at most once a second', async () => {
    let written = 0;
    const collect = function (this: Gauge): void {
      written += 1;
      this.set(written);
    };
    new Gauge({ name: 'written', help: 'How often.', registers: [metrics], collect });
    const read = async (): Promise<string | undefined> => /^written (\d+)$/m.exec((await get('/metrics')).body)?.[1];
    assert.deepEqual(new Set(await Promise.all([1, 2, 3].map(read))), new Set(['1']));
    nowMs += 999;
    assert.equal(await read(), '1');
    nowMs += 1;
    assert.deepEqual(await Promise.all([read(), read()]), ['2', '2']);
  });

  test('ask whether the service is ready at most every half second', async () => {
    const ask = async (): Promise<number> => (await get('/readyz')).statusCode;
    assert.deepEqual(await Promise.all([ask(), ask()]), [200, 200]);
    nowMs += 499;
    assert.equal(await ask(), 200);
    assert.equal(readinessAsked, 1);
    nowMs += 1;
    assert.deepEqual([await ask(), await ask()], [503, 503]);
    nowMs += 500;
    assert.equal(await ask(), 200);
    assert.equal(readinessAsked, 3);
  });
});

describe('the log', () => {
  const lines = (): { route: string; status: number; passed_over?: number }[] =>
    service
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { route: string; status: number; passed_over?: number });

  test('has the first request of each kind without a key, then one in ten seconds with how many were between', async () => {
    for (let second = 0; second < 11; second += 1) {
      await guess()();
      await get('/healthz');
      nowMs += 1_000;
    }
    await get('/v1/models');
    await get('/v1/subjects');
    assert.deepEqual(
      lines().map(({ route, status, passed_over }) => [route, status, passed_over]),
      [
        ['/v1/models', 401, undefined],
        ['/healthz', 200, undefined],
        ['/v1/models', 401, 9],
        ['/healthz', 200, 9],
        ['/v1/subjects', 401, undefined],
      ],
    );
    const counted = /duration_seconds_count\{method="GET",route="\/v1\/models",status="401"\} (\d+)/;
    assert.equal(counted.exec((await get('/metrics')).body)?.[1], '12');
  });

  test('has every request with a key', async () => {
    const { secret } = await createTestKey(database.db, projectId);
    for (let n = 0; n < 5; n += 1) await get('/v1/models', { secret });
    assert.equal(lines().length, 5);
  });
});
