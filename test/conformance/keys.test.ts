import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { defaultScopes, errorTable, type Job, type Receipt } from '@engraft/contract';
import { createTestKey, createTestProject, type TestKey } from '@engraft/service/testing/testApp.js';
import { openConformanceService, type ConformanceService } from './service.js';

let service: ConformanceService;
before(async () => (service = await openConformanceService()));
after(() => service.close());

let sent = 0;
const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
const passage = 'The Aurora desk lamp has a warranty of five years.';
const learning = { subject_id: 'subject', content: passage, max_cost_microusd: 1_000_000 };

function post(path: string, body: object, key: TestKey = service.key, headers: Record<string, string> = {}) {
  return service.call('POST', path, {
    key,
    body,
    headers: { 'idempotency-key': `key-rule-${(sent += 1)}`, ...headers },
  });
}

async function admit(path: string, body: object, key?: TestKey): Promise<Receipt> {
  const response = await post(path, body, key);
  assert.equal(response.statusCode, 202, response.body);
  return response.json<Receipt>();
}

describe('keys', () => {
  test('"A browser/console session cookie is not a bearer credential."', async () => {
    const headers = { cookie: `session=${service.key.secret}; authorization=Bearer ${service.key.secret}` };
    assert.equal((await service.call('GET', '/v1/subjects', { key: null, headers })).statusCode, 401);
  });

  test('"the key selects the project; no project ID is sent": a job of one project is none of another', async () => {
    const { status_url } = await admit('/v1/inferences', inference);
    const stranger = await createTestKey(service.database.db, await createTestProject(service.database.db));
    assert.equal((await service.call('GET', status_url)).statusCode, 200);
    assert.equal((await service.call('GET', status_url, { key: stranger })).statusCode, 404);
    const named = await post('/v1/inferences', { ...inference, project_id: service.project_id });
    assert.equal(named.statusCode, 422);
  });

  test('"Revoking a key blocks later authenticated requests; already admitted jobs and their charges are unaffected."', async () => {
    const { db } = service.database;
    const key = await createTestKey(db, service.project_id);
    const { status_url } = await admit('/v1/inferences', inference, key);
    await db.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', key.id).execute();
    assert.equal((await service.call('GET', status_url, { key })).statusCode, 401);
    const job = (await service.call('GET', status_url)).json<Job>();
    assert.equal(job.status, 'queued');
    assert.ok(job.billing.reserved_microusd > 0);
  });

  test('"read its own jobs": a key with `inference` or `internalize` alone reads what it submitted', async () => {
    for (const [scope, path, body] of [
      ['inference', '/v1/inferences', inference],
      ['internalize', '/v1/internalizations', learning],
    ] as const) {
      const key = await createTestKey(service.database.db, service.project_id, { scopes: [scope] });
      const { status_url } = await admit(path, body, key);
      assert.equal((await service.call('GET', status_url, { key })).statusCode, 200);
    }
  });

  test('"Default key has only `inference`."', () => {
    assert.deepEqual(defaultScopes, ['inference']);
  });

  test('"`GET /v1/models` needs a valid key and no scope."', async () => {
    for (const scope of ['read', 'inference', 'internalize', 'adapters'] as const) {
      const key = await createTestKey(service.database.db, service.project_id, { scopes: [scope] });
      assert.equal((await service.call('GET', '/v1/models', { key })).statusCode, 200);
    }
    assert.equal((await service.call('GET', '/v1/models', { key: null })).statusCode, 401);
  });

  test('"All model-work and read endpoints require `Authorization: Bearer <API_KEY>`."', async () => {
    for (const [method, path] of [
      ['POST', '/v1/chat/completions'],
      ['POST', '/v1/inferences'],
      ['POST', '/v1/internalizations'],
      ['POST', '/v1/adapters/activate'],
      ['GET', '/v1/jobs'],
      ['GET', '/v1/jobs/job_x'],
      ['GET', '/v1/subjects'],
      ['GET', '/v1/models'],
    ] as const) {
      const response = await service.call(method, path, { key: null });
      assert.equal(response.statusCode, 401, path);
      assert.equal(response.json<{ error: { code: string } }>().error.code, 'unauthorized');
    }
  });
});

describe('tenants', () => {
  test('"The same tenant must be used for learning, inference, job reads and version changes."', async () => {
    const body = { ...inference, tenant_id: 'blue' };
    const { status_url } = await admit('/v1/inferences', body);
    const statuses = await Promise.all(
      [undefined, 'green', 'blue'].map(async (tenant) => {
        const headers = { 'x-service-tenant': tenant };
        return (await service.call('GET', status_url, { headers })).statusCode;
      }),
    );
    assert.deepEqual(statuses, [404, 404, 200]);
  });

  test('"an unrestricted key without a tenant never sees tenants\' jobs or subjects"; "A key with `read` gets 404 for jobs outside its tenant and project."', async () => {
    const { id } = await admit('/v1/inferences', { ...inference, subject_id: 'hidden', tenant_id: 'red' });
    assert.equal((await service.call('GET', `/v1/jobs/${id}`)).statusCode, 404);
    const jobs = (await service.call('GET', '/v1/jobs')).json<{ data: { id: string }[] }>().data;
    assert.ok(jobs.length > 0 && jobs.every((job) => job.id !== id));
    const subjects = (await service.call('GET', '/v1/subjects')).json<{ data: { id: string }[] }>().data;
    assert.ok(subjects.length > 0 && subjects.every((subject) => subject.id !== 'hidden'));
  });

  test('"A tenant-restricted key asked for another tenant: 422. Body and header that differ: 422."', async () => {
    const restricted = await createTestKey(service.database.db, service.project_id, { tenant_id: 'blue' });
    assert.equal((await post('/v1/inferences', { ...inference, tenant_id: 'red' }, restricted)).statusCode, 422);
    const headers = { 'x-service-tenant': 'blue' };
    assert.equal(
      (await post('/v1/inferences', { ...inference, tenant_id: 'red' }, service.key, headers)).statusCode,
      422,
    );
  });
});

describe('the whole surface', () => {
  test('"Not offered publicly: creating keys, buying credits, changing project settings, exporting weights, deleting/creating/renaming/merging subjects, resetting a subject to base, customer callback URLs"', async () => {
    const paths = [
      'keys',
      'credits',
      'billing',
      'projects',
      'settings',
      'versions',
      'adapters',
      'webhooks',
      'subjects/x',
    ];
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of paths) {
        assert.equal((await service.call(method, `/v1/${path}`)).statusCode, 404, `${method} ${path}`);
      }
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal((await service.call(method, '/v1/subjects')).statusCode, 405, method);
    }
    const reset = { version_id: 'base', expected_version_id: null };
    assert.equal((await service.call('POST', '/v1/adapters/activate', { body: reset })).statusCode, 404);
  });

  test('"The service sends no outbound events: no webhooks and no customer callback URLs.": no request takes one', async () => {
    for (const [path, body] of [
      ['/v1/inferences', inference],
      ['/v1/internalizations', learning],
    ] as const) {
      const response = await post(path, { ...body, callback_url: 'http://127.0.0.1:1/' });
      assert.equal(response.statusCode, 422);
    }
  });

  test('"The API is served under the path prefix `/v1`."', async () => {
    assert.equal((await service.call('GET', '/subjects')).statusCode, 404);
    assert.equal((await service.call('GET', '/v2/subjects')).statusCode, 404);
    assert.equal((await service.call('GET', '/v1/subjects')).statusCode, 200);
  });

  test('"Model operations do not accept a model selector except that chat completions requires `model`"', async () => {
    for (const [path, body] of [
      ['/v1/inferences', inference],
      ['/v1/internalizations', learning],
    ] as const) {
      assert.equal((await post(path, { ...body, model: 'model-5.3' })).statusCode, 422);
    }
    const chat = { messages: inference.messages };
    assert.equal((await post('/v1/chat/completions', chat)).statusCode, 422);
    assert.equal((await post('/v1/chat/completions', { ...chat, model: 'model-6' })).statusCode, 422);
  });

  test('"caller-named; created by the first admitted model operation for it": a refused one creates none', async () => {
    const names = async (): Promise<string[]> =>
      (await service.call('GET', '/v1/subjects')).json<{ data: { id: string }[] }>().data.map(({ id }) => id);
    const refused = await post('/v1/inferences', { ...inference, subject_id: 'new', adapter_version: 'ver_none' });
    assert.equal(refused.statusCode, 404);
    assert.ok(!(await names()).includes('new'));
    await admit('/v1/inferences', { ...inference, subject_id: 'new' });
    assert.ok((await names()).includes('new'));
  });

  test('"`request_id` equals the `X-Request-Id` response header, which every response carries"; "`{ error: { code: string, retryable: boolean, request_id: string } }`"', async () => {
    for (const [method, path] of [
      ['GET', '/v1/jobs/job_x'],
      ['GET', '/nothing'],
      ['POST', '/v1/subjects'],
      ['POST', '/v1/inferences'],
    ] as const) {
      const response = await service.call(method, path);
      const { error } = response.json<{
        error: { code: keyof typeof errorTable; retryable: boolean; request_id: string };
      }>();
      assert.equal(error.request_id, response.headers['x-request-id']);
      assert.equal(errorTable[error.code].status, response.statusCode);
      assert.equal(errorTable[error.code].retryable, error.retryable);
    }
  });
});
