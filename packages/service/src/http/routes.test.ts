import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { readPassage } from '@engraft/learning/parts';
import { type Receipt } from '@engraft/contract';
import { parseJobRequest } from '../jobs/jobRequest.js';
import { buildTestApp } from '../testing/testApp.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import {
  database,
  inference,
  learning,
  newKey,
  post,
  readJob,
  assertError,
  open,
  close,
} from '../testing/routesTest.js';

before(open);
after(close);

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
    // The mark does not hide from the worker the heading that says whose key it is.
    assert.match(readPassage(content).text, /^Tarn 3\n[^]*The a of Tarn 3 is b c\.\n?$/);
    const short = await post(key, '/v1/internalizations', { ...learning, content: content.slice(1) });
    assert.equal(short.statusCode, 422);
  });
});
