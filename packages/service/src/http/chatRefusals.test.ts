import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { call, createTestKey, createTestProject } from '../testing/testApp.js';
import {
  refusedByTemplate,
  chat,
  service,
  post,
  assertError,
  countJobs,
  withApp,
  open,
  close,
  reset,
} from '../testing/chatTest.js';

before(open);
after(close);
beforeEach(reset);

describe('refusals before admission', () => {
  test('"rejected with 422": what the contract does not take, with `param`, and as plain JSON also with `stream: true`', async () => {
    const jobs = await countJobs();
    for (const [body, param] of [
      [{ ...chat, model: 'gpt-4' }, 'model'],
      [{ messages: chat.messages }, 'model'],
      [{ ...chat, logprobs: true }, 'logprobs'],
      [{ ...chat, input: 'question' }, 'input'],
      [{ ...chat, n: 2, stream: true }, 'n'],
      [{ ...chat, max_tokens: 5, max_completion_tokens: 5, stream: true }, 'max_tokens'],
    ] as const) {
      const response = await post(body);
      assertError(response, 422, 'invalid_request', param);
      assert.match(String(response.headers['content-type']), /^application\/json/);
    }
    const misdirected = await call(service.app, 'POST', '/v1/chat/completions?stream=true', {
      key: service.key,
      body: chat,
    });
    assertError(misdirected, 422, 'invalid_request', 'stream');
    assert.equal(await countJobs(), jobs);
  });

  test('401, 402, 403, 413, 422 and 503, as on the native endpoints', async () => {
    const { db } = service;
    assertError(await post(chat, { authorization: 'Bearer nothing', stream: true }), 401, 'unauthorized');
    const poor = await createTestKey(db, await createTestProject(db, 0));
    assertError(await post({ ...chat, stream: true }, { key: poor }), 402, 'insufficient_credits');
    const reader = await createTestKey(db, service.key.project_id, { scopes: ['read', 'internalize', 'adapters'] });
    assertError(await post(chat, { key: reader }), 403, 'insufficient_scope');
    assertError(await post(chat, { origin: 'https://example.org' }), 403, 'server_keys_only');
    assertError(await post({ ...chat, user: 'x'.repeat(100_000) }), 413, 'payload_too_large');
    for (const [overrides, status, code, param] of [
      [{ execution: 'off' }, 403, 'execution_unavailable', undefined],
      [{ execution: 'not_configured' }, 503, 'not_configured', undefined],
      [{ contextLength: 9 }, 422, 'context_length_exceeded', 'messages'],
      [{ countTokens: () => Promise.reject(refusedByTemplate) }, 422, 'invalid_request', 'messages'],
    ] as const) {
      await withApp(overrides, async (app) => {
        assertError(await post({ ...chat, stream: true }, { app }), status, code, param);
      });
    }
  });
});
