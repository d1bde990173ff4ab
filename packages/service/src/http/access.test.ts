import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { scopes, type Scope } from '@engraft/contract';
import type { LightMyRequestResponse } from 'fastify';
import { revokeKey } from '../keys/revokeKey.js';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

let database: TestDatabase;
let service: TestApp;
let projectId: string;
let key: TestKey;
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
  projectId = await createTestProject(database.db);
  key = await createTestKey(database.db, projectId);
});
after(async () => {
  await service.app.close();
  await database.close();
});

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
const learning = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };
const activation = { version_id: 'ver_unknown', expected_version_id: null };

const endpoints = [
  { method: 'POST', url: '/v1/inferences', body: inference, scopes: ['inference'], allowed_status: 202 },
  { method: 'POST', url: '/v1/internalizations', body: learning, scopes: ['internalize'], allowed_status: 202 },
  { method: 'POST', url: '/v1/adapters/activate', body: activation, scopes: ['adapters'], allowed_status: 404 },
  { method: 'GET', url: '/v1/subjects', body: undefined, scopes: ['read'], allowed_status: 200 },
  { method: 'GET', url: '/v1/jobs/job_unknown', body: undefined, scopes: ['read'], allowed_status: 404 },
] as const;

let usedKeys = 0;

function request(
  { method, url, body }: Pick<(typeof endpoints)[number], 'method' | 'url' | 'body'>,
  options: { key?: TestKey; headers?: Record<string, string | undefined>; body?: unknown } = {},
): Promise<LightMyRequestResponse> {
  usedKeys += 1;
  return call(service.app, method, url, {
    body,
    ...options,
    headers: { 'idempotency-key': `access-${usedKeys}-key`, ...options.headers },
  });
}

function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
  const { error } = response.json<{ error: Record<string, unknown> }>();
  assert.deepEqual([response.statusCode, error['code'], error['param']], [status, code, param]);
  assert.equal(error['request_id'], response.headers['x-request-id']);
  assert.equal(typeof error['retryable'], 'boolean');
  assert.equal(typeof error['message'], 'string');
}

describe('authentication', () => {
  test('"Every `/v1` request carries `Authorization: Bearer <API_KEY>`": missing or malformed is 401 `unauthorized`', async () => {
    for (const endpoint of endpoints) {
      for (const authorization of [
        undefined,
        '',
        key.secret,
        `Basic ${key.secret}`,
        'Bearer',
        'Bearer nonsense',
        `Bearer ${key.secret} x`,
      ]) {
        const response = await request(endpoint, { headers: { authorization } });
        assertError(response, 401, 'unauthorized');
        assert.equal(response.headers['www-authenticate'], 'Bearer');
      }
    }
  });

  test('"Invalid, expired or revoked key: 401 `unauthorized`."', async () => {
    const expired = await createTestKey(database.db, projectId, { expires_at: new Date(Date.now() - 1) });
    const revoked = await createTestKey(database.db, projectId);
    assert.equal((await request(endpoints[3], { key: revoked })).statusCode, 200);
    await revokeKey(database.db, revoked.id);
    for (const each of [expired, revoked]) assertError(await request(endpoints[3], { key: each }), 401, 'unauthorized');
  });

  test('the scheme may be written in any case', async () => {
    const response = await request(endpoints[3], { headers: { authorization: `bearer ${key.secret}` } });
    assert.equal(response.statusCode, 200);
  });

  test('"A request carrying an `Origin` header is rejected with code `server_keys_only`", before the key is looked at', async () => {
    for (const endpoint of endpoints) {
      assertError(
        await request(endpoint, { key, headers: { origin: 'https://example.com' } }),
        403,
        'server_keys_only',
      );
      assertError(await request(endpoint, { headers: { origin: '' } }), 403, 'server_keys_only');
    }
    assertError(
      await call(service.app, 'GET', '/v1/nothing', { headers: { origin: 'null' } }),
      403,
      'server_keys_only',
    );
  });
});

describe('"Missing scope: 403 `insufficient_scope`."', () => {
  test('each endpoint takes a key with its scope alone, and no key with all the others', async () => {
    for (const endpoint of endpoints) {
      const needed: readonly Scope[] = endpoint.scopes;
      const alone = await createTestKey(database.db, projectId, { scopes: needed });
      assert.equal((await request(endpoint, { key: alone })).statusCode, endpoint.allowed_status);
      const others = await createTestKey(database.db, projectId, {
        scopes: scopes.filter((each) => !needed.includes(each)),
      });
      assertError(await request(endpoint, { key: others }), 403, 'insufficient_scope');
    }
  });

  test('"An advanced management-only preset grants `read` and `adapters` with no inference or learning."', async () => {
    const management = await createTestKey(database.db, projectId, { scopes: ['read', 'adapters'] });
    const statuses = await Promise.all(
      endpoints.map(async (each) => (await request(each, { key: management })).statusCode),
    );
    assert.deepEqual(statuses, [403, 403, 404, 200, 404]);
  });
});

describe('tenant scope', () => {
  const writes = endpoints.slice(0, 3);

  test('"When both are present they must match": 422', async () => {
    for (const endpoint of writes) {
      const body = { ...endpoint.body, tenant_id: 'a' };
      const differing = await request(endpoint, { key, body, headers: { 'x-service-tenant': 'b' } });
      assertError(differing, 422, 'invalid_request', 'tenant_id');
      const matching = await request(endpoint, { key, body, headers: { 'x-service-tenant': 'a' } });
      assert.equal(matching.statusCode, endpoint.allowed_status);
    }
  });

  test('"A tenant-restricted key supplies its own tenant when none is given, and rejects a different tenant": 422', async () => {
    const restricted = await createTestKey(database.db, projectId, { tenant_id: 'a' });
    const admitted = await request(endpoints[0], { key: restricted });
    const job = await call(service.app, 'GET', admitted.json<{ status_url: string }>().status_url, { key: restricted });
    assert.equal(job.json<{ tenant_id: string }>().tenant_id, 'a');
    for (const endpoint of endpoints) {
      const response = await request(endpoint, { key: restricted, headers: { 'x-service-tenant': 'b' } });
      assertError(response, 422, 'invalid_request', 'X-Service-Tenant');
    }
    for (const endpoint of writes) {
      const response = await request(endpoint, { key: restricted, body: { ...endpoint.body, tenant_id: 'b' } });
      assertError(response, 422, 'invalid_request', 'tenant_id');
    }
  });

  test('header `X-Service-Tenant` matches `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{0,127}$`', async () => {
    for (const tenant of ['', ' ', '_a', 'a b', 'a, b', 'x'.repeat(129)]) {
      for (const endpoint of endpoints) {
        const response = await request(endpoint, { key, headers: { 'x-service-tenant': tenant } });
        assertError(response, 422, 'invalid_request', 'X-Service-Tenant');
      }
    }
  });
});

describe('query parameters', () => {
  test('"that an endpoint does not define are refused with 422 rather than ignored"', async () => {
    for (const endpoint of endpoints) {
      const response = await request({ ...endpoint, url: `${endpoint.url}?limit=5` as typeof endpoint.url }, { key });
      assertError(response, 422, 'invalid_request', 'limit');
    }
  });

  test('nor is a second question mark a way around that', async () => {
    for (const endpoint of endpoints) {
      const response = await request({ ...endpoint, url: `${endpoint.url}??limit=5` as typeof endpoint.url }, { key });
      assertError(response, 422, 'invalid_request', 'limit');
    }
  });

  test('a bare question mark is none', async () => {
    assert.equal((await call(service.app, 'GET', '/v1/subjects?', { key })).statusCode, 200);
  });
});

describe('"Order of checks on a model write"', () => {
  test('Origin → key → scope → body size → syntax and schema → tenant agreement → replay', async () => {
    const reader = await createTestKey(database.db, projectId, { scopes: ['read'] });
    const restricted = await createTestKey(database.db, projectId, { tenant_id: 'a' });
    const url = endpoints[0].url;
    const oversized = '['.repeat(100_001);
    const send = (options: Parameters<typeof call>[3]) => call(service.app, 'POST', url, options);
    const headers = { 'x-service-tenant': 'b' };
    const origin = { ...headers, origin: 'x' };
    assertError(await send({ body: oversized, headers: origin }), 403, 'server_keys_only');
    assertError(await send({ body: oversized, headers }), 401, 'unauthorized');
    assertError(await send({ key: reader, body: oversized, headers }), 403, 'insufficient_scope');
    assertError(await send({ key: restricted, body: oversized, headers }), 413, 'payload_too_large');
    assertError(
      await send({ key: restricted, body: '[', headers: { ...headers, 'idempotency-key': 'order-key' } }),
      422,
      'invalid_request',
    );
    const agreed = { ...headers, 'idempotency-key': 'order-key' };
    assertError(
      await send({ key: restricted, body: { ...inference, extra: 1 }, headers: agreed }),
      422,
      'invalid_request',
      'extra',
    );
    assertError(
      await send({ key: restricted, body: inference, headers: agreed }),
      422,
      'invalid_request',
      'X-Service-Tenant',
    );
  });
});

test('every response carries `X-Request-Id`, a new one each time', async () => {
  const responses = await Promise.all([
    request(endpoints[0], { key }),
    request(endpoints[0]),
    request(endpoints[3], { key }),
    call(service.app, 'GET', '/nothing', { headers: { 'x-request-id': 'mine' } }),
    call(service.app, 'GET', '/v1/jobs/%zz', { key }),
    call(service.app, 'GET', '/healthz'),
    call(service.app, 'POST', '/healthz'),
  ]);
  const ids = responses.map(({ headers }) => headers['x-request-id']);
  for (const id of ids) assert.match(String(id), /^req_[\w-]{24}$/);
  assert.equal(new Set(ids).size, ids.length);
});
