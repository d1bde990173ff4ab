import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type ErrorEnvelope } from '@engraft/contract';
import fc from 'fast-check';
import { call, createTestKey } from '../testing/testApp.js';
import {
  chat,
  service,
  script,
  post,
  complete,
  type ErrorBody,
  assertError,
  withApp,
  open,
  close,
  reset,
} from '../testing/chatTest.js';

before(open);
after(close);
beforeEach(reset);

describe('"Same key, same namespace and same normalized input: original job returned"', () => {
  test('however it is spelled: `stream` and defaults "stay out of it", `max_tokens` is "read as `max_completion_tokens`"', async () => {
    const headers = { 'idempotency-key': 'one-intent' };
    const first = await complete({ ...chat, subject_id: 'gerd', max_tokens: 50, stream: false }, headers);
    const spelledOut = {
      model: 'model-5.3',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'question' }] }],
      subject_id: null,
      tenant_id: null,
      adapter_version: null,
      max_tokens: null,
      max_completion_tokens: 50,
      temperature: 0,
      n: 1,
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      response_format: { type: 'text' },
      stream: null,
      stream_options: null,
    };
    assert.deepEqual(await complete(spelledOut, { ...headers, 'x-service-subject': 'gerd' }), first);
    const streamed = await post({ ...spelledOut, subject_id: 'gerd', stream: true }, headers);
    assert.equal(streamed.headers['x-service-job-id'], first.service.job_id);
    assert.equal(script.generated.length, 1);
  });

  test('"a replay succeeds even when the balance is now empty, the version expired or execution is switched off"', async () => {
    const headers = { 'idempotency-key': 'before-the-end' };
    const first = await complete(chat, headers);
    await withApp({ execution: 'off' }, async (app) => {
      assert.deepEqual(await complete(chat, { ...headers, app }), first);
    });
  });

  test('"same key with changed input … in chat also the same key from another API key": 409 `idempotency_conflict`', async () => {
    const headers = { 'idempotency-key': 'used-before' };
    await complete(chat, headers);
    for (const change of [{ subject_id: 'default' }, { temperature: 0.1 }, { adapter_version: 'base' }]) {
      assertError(await post({ ...chat, ...change }, headers), 409, 'idempotency_conflict');
    }
    const colleague = await createTestKey(service.db, service.key.project_id);
    const foreign = await post(chat, { ...headers, key: colleague });
    assertError(foreign, 409, 'idempotency_conflict');
    assert.match(foreign.json<ErrorEnvelope>().error.message, /another API key/);
  });

  test('"the endpoint is part of the fingerprint, so one key on two endpoints is a conflict"', async () => {
    const headers = { 'idempotency-key': 'on-two-endpoints' };
    await complete({ ...chat, subject_id: 'hanna' }, headers);
    const body = { subject_id: 'hanna', messages: chat.messages };
    const native = await call(service.app, 'POST', '/v1/inferences', { key: service.key, body, headers });
    assertError(native, 409, 'idempotency_conflict');
  });

  test('"Two simultaneous identical requests admit one job", and both get its answer', async () => {
    const headers = { 'idempotency-key': 'at-the-same-time' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => complete(chat, headers)));
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
    assert.equal(script.generated.length, 1);
  });

  test('any two spellings of one request are the same, and any change of meaning is not', async () => {
    const text = fc.string({ minLength: 1, maxLength: 20 });
    await withApp({}, async (app) => {
      let runs = 0;
      // The worker may or may not have answered by now: 200 and `job_pending` name the job alike.
      const jobOf = async (body: unknown, headers: object) => {
        const response = await post(body, { app, ...headers });
        const code = response.statusCode === 200 ? 'done' : response.json<ErrorBody>().error['code'];
        return { code, job_id: response.headers['x-service-job-id'] };
      };
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            texts: fc.array(text, { minLength: 1, maxLength: 3 }),
            role: fc.constantFrom('system', 'developer'),
            subject: fc.option(fc.constantFrom('s1', 's2'), { nil: undefined }),
            limit: fc.option(fc.integer({ min: 1, max: 4096 }), { nil: undefined }),
            temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
          }),
          fc.boolean(),
          async ({ texts, role, subject, limit, temperature }, streamed) => {
            runs += 1;
            const headers = { 'idempotency-key': `property-${runs}` };
            const one = {
              ...chat,
              messages: [
                { role, content: 'Rules.' },
                { role: 'user', content: texts.join('') },
              ],
              subject_id: subject,
              max_tokens: limit,
              temperature,
            };
            const other = {
              stream: streamed && null,
              temperature: temperature ?? null,
              max_completion_tokens: limit ?? null,
              tools: null,
              messages: [
                { content: [{ text: 'Rules.', type: 'text' }], role: 'system', tool_calls: [] },
                { content: texts.map((part) => ({ type: 'text', text: part })), role: 'user' },
              ],
              model: 'model-5.3',
            };
            const first = await jobOf(one, headers);
            const same = await jobOf(other, { ...headers, 'x-service-subject': subject });
            assert.equal(typeof first.job_id, 'string');
            assert.equal(same.job_id, first.job_id);
            const changed = { ...one, messages: [...one.messages, { role: 'user', content: 'More.' }] };
            assert.equal((await jobOf(changed, headers)).code, 'idempotency_conflict');
          },
        ),
        { numRuns: 25 },
      );
    });
  });
});
