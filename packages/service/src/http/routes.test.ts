import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readPassage } from '@engraft/learning/parts';
import { job as jobSchema, subjectList, type Job, type Receipt } from '@engraft/contract';
import type { LightMyRequestResponse } from 'fastify';
import { parseJobRequest } from '../jobs/jobRequest.js';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';

let database: TestDatabase;
let service: TestApp;
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
});
after(async () => {
  await service.app.close();
  await database.close();
});

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
const learning = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };

async function newKey(creditMicrousd = 100_000_000): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
}

let usedKeys = 0;

function post(
  key: TestKey,
  url: string,
  body: unknown,
  headers: Record<string, string | undefined> = {},
  app = service.app,
) {
  usedKeys += 1;
  return call(app, 'POST', url, { key, body, headers: { 'idempotency-key': `routes-${usedKeys}-key`, ...headers } });
}

function get(key: TestKey, url: string, tenant?: string) {
  return call(service.app, 'GET', url, { key, headers: { 'x-service-tenant': tenant } });
}

async function readJob(key: TestKey, receipt: LightMyRequestResponse, tenant?: string): Promise<Job> {
  const response = await get(key, receipt.json<Receipt>().status_url, tenant);
  assert.equal(response.statusCode, 200, response.body);
  return jobSchema.strict().parse(response.json());
}

function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
  const { error } = response.json<{ error: Record<string, unknown> }>();
  assert.deepEqual([response.statusCode, error['code'], error['param']], [status, code, param]);
}

for (const [url, body] of [
  ['/v1/inferences', inference],
  ['/v1/internalizations', learning],
] as const) {
  describe(`POST ${url}`, () => {
    test('"Responses: 202 new job (receipt); 200 identical replay (receipt, same shape)."', async () => {
      const key = await newKey();
      const headers = { 'idempotency-key': 'the-same-key' };
      const first = await post(key, url, body, headers);
      const { id, status_url, ...others } = first.json<Receipt>();
      assert.equal(first.statusCode, 202);
      assert.equal(status_url, `/v1/jobs/${id}`);
      assert.deepEqual(others, {});
      const second = await post(key, url, body, headers);
      assert.equal(second.statusCode, 200);
      assert.deepEqual(second.json(), first.json());
    });

    test('"`Idempotency-Key` (required)", matching `^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$`', async () => {
      const key = await newKey();
      for (const value of [undefined, '', 'short-7', '_12345678', '12345678 9', 'x'.repeat(129)]) {
        const response = await post(key, url, body, { 'idempotency-key': value });
        assertError(response, 422, 'invalid_request', 'Idempotency-Key');
      }
      for (const value of ['12345678', 'x'.repeat(128)]) {
        assert.equal((await post(key, url, body, { 'idempotency-key': value })).statusCode, 202);
      }
    });

    test('"idempotency-key reuse with changed input": 409 `idempotency_conflict`', async () => {
      const key = await newKey();
      const headers = { 'idempotency-key': 'reused-key' };
      await post(key, url, body, headers);
      assertError(await post(key, url, { ...body, subject_id: 'another' }, headers), 409, 'idempotency_conflict');
    });

    test('"The fingerprint is taken over the input after normalisation": defaults and the way of naming the tenant make no difference', async () => {
      const key = await newKey();
      const headers = { 'idempotency-key': 'normalised-key' };
      const spelledOut =
        url === '/v1/inferences'
          ? {
              tools: [],
              tool_choice: 'auto',
              parallel_tool_calls: true,
              response_format: { type: 'text' },
              max_output_tokens: 2048,
              temperature: 0,
            }
          : { activate: true };
      const first = await post(key, url, body, { ...headers, 'x-service-tenant': 'a' });
      const second = await post(key, url, { ...spelledOut, ...body, tenant_id: 'a' }, headers);
      assert.deepEqual([first.statusCode, second.statusCode], [202, 200]);
      assert.deepEqual(second.json(), first.json());
    });

    test('"hosted preview: model work is switched off": 403 `execution_unavailable`; no engine: 503 `not_configured`', async () => {
      const key = await newKey();
      for (const [execution, status, code] of [
        ['off', 403, 'execution_unavailable'],
        ['not_configured', 503, 'not_configured'],
      ] as const) {
        const { app } = buildTestApp(database.db, { execution });
        assertError(await post(key, url, body, {}, app), status, code);
        await app.close();
      }
    });

    test('402 `insufficient_credits`', async () => {
      const response = await post(await newKey(1_000), url, body);
      assertError(response, 402, 'insufficient_credits');
      assert.match(response.body, /It reserves \d+\.\d{2,6} USD; 0\.001 USD is available\./);
    });

    test('"Learning or inference on a subject whose active version has expired: 409 `adapter_expired`"', async () => {
      const key = await newKey();
      await expireTestVersion(database.db, (await createTestVersion(database.db, key)).id);
      assertError(await post(key, url, body), 409, 'adapter_expired');
    });
  });
}

describe('POST /v1/inferences', () => {
  test('pins "a retained version of this subject, or `base`"', async () => {
    const key = await newKey();
    const version = await createTestVersion(database.db, key, { activate: false });
    for (const adapterVersion of [version.id, 'base']) {
      const job = await readJob(
        key,
        await post(key, '/v1/inferences', { ...inference, adapter_version: adapterVersion }),
      );
      assert.equal(job.adapter_version, adapterVersion);
    }
    const unknown = await post(key, '/v1/inferences', { ...inference, adapter_version: 'unknown' });
    assertError(unknown, 404, 'not_found');
    assert.match(unknown.body, /no version with this adapter_version/);
  });

  test('"The fingerprint is taken over the input after normalisation": `strict: false` is what an omitted `strict` means', async () => {
    const key = await newKey();
    const headers = { 'idempotency-key': 'strict-or-not' };
    const tools = (extra: object) => ({ tools: [{ type: 'function', function: { name: 'look_up', ...extra } }] });
    const first = await post(key, '/v1/inferences', { ...inference, ...tools({}) }, headers);
    const second = await post(key, '/v1/inferences', { ...inference, ...tools({ strict: false }) }, headers);
    assert.deepEqual([second.statusCode, second.json()], [200, first.json()]);
  });

  test('422 `context_length_exceeded`', async () => {
    const { app } = buildTestApp(database.db, { contextLength: 9 });
    assertError(
      await post(await newKey(), '/v1/inferences', inference, {}, app),
      422,
      'context_length_exceeded',
      'messages',
    );
    await app.close();
  });

  test('"An already-admitted job keeps the version snapshot resolved at admission even if another version activates afterwards."', async () => {
    const key = await newKey();
    const receipt = await post(key, '/v1/inferences', inference);
    await createTestVersion(database.db, key);
    assert.equal((await readJob(key, receipt)).adapter_version, 'base');
  });
});

describe('GET /v1/jobs/{id}', () => {
  test('"Returns the job object", as it was admitted', async () => {
    const key = await newKey();
    const job = await readJob(key, await post(key, '/v1/inferences', inference));
    const { id, created_at, updated_at, ...shown } = job;
    assert.match(id, /^job_/);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    assert.equal(created_at, updated_at);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(shown, {
      tenant_id: null,
      subject_id: 'subject',
      kind: 'inference',
      status: 'queued',
      phase: 'queued',
      adapter_version: 'base',
      usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 },
      billing: {
        reserved_microusd: 9 * 12 + 2048 * 30,
        charged_microusd: 0,
        settled: false,
        pricing_version: '2026-11-01',
        compute_microusd: 0,
        storage_microusd: 0,
      },
      result: null,
      error: null,
    });
  });

  test('shows how a job ended: `error` has `code` and "`retryable` (currently always `false`)"', async () => {
    const key = await newKey();
    const receipt = await post(key, '/v1/inferences', inference);
    await database.db
      .updateTable('jobs')
      .set({
        status: 'reconciliation_required',
        error_code: 'receipt_missing',
        result: JSON.stringify({ text: 'answer', finish_reason: 'stop' }),
      })
      .where('id', '=', receipt.json<Receipt>().id)
      .execute();
    const job = await readJob(key, receipt);
    assert.deepEqual(job.error, { code: 'receipt_missing', retryable: false });
    assert.deepEqual(job.result, { text: 'answer', finish_reason: 'stop' });
  });

  test('"Unknown job or a job of another project: error `not_found`."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const { status_url } = (await post(key, '/v1/inferences', inference)).json<Receipt>();
    assertError(await get(other, status_url), 404, 'not_found');
    for (const id of ['job_unknown', 'job_000000000000000000000000', '%00', 'x'.repeat(5_000), '..%2fsubjects']) {
      assertError(await get(key, `/v1/jobs/${id}`), 404, 'not_found');
    }
  });

  test('"Repeat `X-Service-Tenant` for tenant jobs or use a tenant-restricted key."', async () => {
    const key = await newKey();
    const receipt = await post(key, '/v1/inferences', { ...inference, tenant_id: 'a' });
    const { status_url } = receipt.json<Receipt>();
    assertError(await get(key, status_url), 404, 'not_found');
    assertError(await get(key, status_url, 'b'), 404, 'not_found');
    assert.equal((await readJob(key, receipt, 'a')).tenant_id, 'a');
    const restricted = await createTestKey(database.db, key.project_id, { tenant_id: 'a', scopes: ['read'] });
    assert.equal((await get(restricted, status_url)).statusCode, 200);
  });

  test('"A key with `inference` or `internalize` can read jobs it submitted under that scope; other keys need `read` in the same tenant."', async () => {
    const { project_id } = await newKey();
    const submitter = await createTestKey(database.db, project_id, { scopes: ['inference'] });
    const colleague = await createTestKey(database.db, project_id, { scopes: ['inference', 'internalize'] });
    const reader = await createTestKey(database.db, project_id, { scopes: ['read'] });
    const { status_url } = (await post(submitter, '/v1/inferences', inference)).json<Receipt>();
    assert.equal((await get(submitter, status_url)).statusCode, 200);
    assert.equal((await get(reader, status_url)).statusCode, 200);
    assertError(await get(colleague, status_url), 403, 'insufficient_scope');
    assertError(await get(colleague, '/v1/jobs/job_unknown'), 403, 'insufficient_scope');
    assertError(await get(submitter, status_url, 'a'), 403, 'insufficient_scope');
  });
});

describe('GET /v1/subjects', () => {
  test('"Response `{ data: [subject] }`" for the selected tenant', async () => {
    const key = await newKey();
    const version = await createTestVersion(database.db, key, { tenant_id: 'a' });
    assert.deepEqual((await get(key, '/v1/subjects')).json(), { data: [] });
    const response = await get(key, '/v1/subjects', 'a');
    const { data } = subjectList.strict().parse(response.json());
    assert.deepEqual(
      data.map(({ id, tenant_id, active_version, revision }) => [id, tenant_id, active_version, revision]),
      [['subject', 'a', version.id, 1]],
    );
  });

  test('"Provider checkpoint paths and source passages are never exposed."', async () => {
    const key = await newKey();
    const passage = 'a passage that nobody else may see';
    await post(key, '/v1/internalizations', { ...learning, content: passage });
    const { id } = await createTestVersion(database.db, key);
    const subjects = await get(key, '/v1/subjects');
    const job = await get(
      key,
      `/v1/jobs/${subjects.json<{ data: { versions: { source_job: string }[] }[] }>().data[0]!.versions[0]!.source_job}`,
    );
    assert.ok(subjects.body.includes(id));
    for (const { body } of [subjects, job]) assert.doesNotMatch(body, /passage|sha256|rehearsal/);
  });
});

describe('POST /v1/internalizations', () => {
  test('"Lengths are UTF-16 code units": of the passage as it is sent, with marks that are not learned', async () => {
    const key = await newKey();
    const content = `\uFEFF# Tarn 3\0\n\n- a: b\u00A0c`;
    assert.equal(content.length, 20);
    const response = await post(key, '/v1/internalizations', { ...learning, content });
    assert.equal(response.statusCode, 202);
    const { id } = response.json<{ id: string }>();
    const job = await database.db.selectFrom('jobs').select('request').where('id', '=', id).executeTakeFirstOrThrow();
    assert.deepEqual(parseJobRequest(job.request), {
      kind: 'internalization',
      content,
      max_cost_microusd: learning.max_cost_microusd,
      activate: true,
    });
    // What the worker reads of it: the mark does not hide the heading that says whose key it is.
    assert.match(readPassage(content).text, /^Tarn 3\n[^]*The a of Tarn 3 is b c\.\n?$/);
    const short = await post(key, '/v1/internalizations', { ...learning, content: content.slice(1) });
    assert.equal(short.statusCode, 422);
  });
});

describe('POST /v1/adapters/activate', () => {
  test('"Response 200: `{ version_id: string, revision: integer }`", without an `Idempotency-Key`', async () => {
    const key = await newKey();
    const { id } = await createTestVersion(database.db, key, { activate: false });
    const body = { version_id: id, expected_version_id: null };
    const response = await call(service.app, 'POST', '/v1/adapters/activate', { key, body });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.json(), { version_id: id, revision: 1 });
  });

  test('"Errors: 409 `activation_conflict`, `adapter_expired`, `not_found`", also when execution is switched off', async () => {
    const key = await newKey();
    const { id } = await createTestVersion(database.db, key, { activate: false });
    const { app } = buildTestApp(database.db, { execution: 'off' });
    const activate = (versionId: string, expectedVersionId: string | null) =>
      call(app, 'POST', '/v1/adapters/activate', {
        key,
        body: { version_id: versionId, expected_version_id: expectedVersionId },
      });
    assertError(await activate(id, 'base'), 409, 'activation_conflict');
    assertError(await activate('ver_unknown', null), 404, 'not_found');
    await expireTestVersion(database.db, id);
    assertError(await activate(id, null), 409, 'adapter_expired');
    await app.close();
  });

  test('"Do not send `subject_id`"', async () => {
    const body = { version_id: 'v', expected_version_id: null, subject_id: 's' };
    assertError(await post(await newKey(), '/v1/adapters/activate', body), 422, 'invalid_request', 'subject_id');
  });
});
