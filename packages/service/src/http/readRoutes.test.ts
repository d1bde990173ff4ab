import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { subjectList, type Receipt } from '@engraft/contract';
import { createTestKey } from '../testing/testApp.js';
import { createTestVersion } from '../testing/testVersion.js';
import {
  database,
  inference,
  newKey,
  post,
  get,
  readJob,
  assertError,
  learning,
  open,
  close,
} from '../testing/routesTest.js';

before(open);
after(close);

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
