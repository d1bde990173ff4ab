import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatCompletion, type Receipt } from '@engraft/contract';
import { call, createTestKey } from '../testing/testApp.js';
import { type ScriptedReply } from '../testing/scriptedEngine.js';
import {
  neverAnswered,
  lookUp,
  chat,
  service,
  script,
  post,
  complete,
  type ErrorBody,
  assertError,
  readJob,
  withApp,
  call42,
  open,
  close,
  reset,
} from '../testing/chatTest.js';

before(open);
after(close);
beforeEach(reset);

describe('waiting', () => {
  test('"If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`"', async () => {
    script.reply = neverAnswered;
    await withApp({ chatWaitMs: 100 }, async (app) => {
      const headers = { 'idempotency-key': 'to-be-read-later', app };
      const pending = await post(chat, headers);
      assertError(pending, 409, 'job_pending');
      const { job_id, status_url, retryable, request_id } = pending.json<ErrorBody>().error;
      assert.deepEqual([status_url, retryable], [`/v1/jobs/${String(job_id)}`, false]);
      assert.equal(pending.headers['x-service-job-id'], job_id);
      assert.equal(pending.headers['x-request-id'], request_id);
      assert.equal(pending.headers['idempotency-key'], 'to-be-read-later');

      const status = 'reconciliation_required';
      await service.db
        .updateTable('jobs')
        .set({ status, error_code: 'receipt_missing' })
        .where('id', '=', String(job_id))
        .execute();
      const unknown = await post(chat, headers);
      assertError(unknown, 409, 'job_reconciliation_required');
      assert.equal(unknown.json<ErrorBody>().error['job_id'], job_id);
    });
  });

  test('"invalid JSON yields a failed job with consumed tokens charged": 409 `job_failed`, on a replay too', async () => {
    script.reply = () => ({ text: 'no JSON' });
    const headers = { 'idempotency-key': 'asked-for-json' };
    const body = { ...chat, response_format: { type: 'json_object' } };
    for (const response of [await post(body, headers), await post(body, headers)]) {
      assertError(response, 409, 'job_failed');
      assert.match(String(response.json<ErrorBody>().error['message']), /invalid_json_output/);
    }
    const job = await readJob(String((await post(body, headers)).headers['x-service-job-id']));
    assert.deepEqual([job.status, job.error?.code], ['failed', 'invalid_json_output']);
    assert.ok(job.billing.charged_microusd > 0);
    script.reply = () => ({ text: '{"answer": 42}' });
    assert.equal((await complete(body)).choices[0]!.message.content, '{"answer": 42}');
  });

  test('"function argument string: 16,000 units": a call that could not be sent back fails the job, charged', async () => {
    for (const [units, status] of [
      [16_000, 200],
      [16_001, 409],
    ] as const) {
      const text = JSON.stringify({ text: '' });
      const filled = text.replace('""', `"${'x'.repeat(units - text.length)}"`);
      script.reply = () => ({ text: '', toolCalls: [{ ...call42, arguments: filled }], finishReason: 'tool_calls' });
      const response = await post({ ...chat, tools: [lookUp] });
      assert.equal(response.statusCode, status);
      const job = await readJob(String(response.headers['x-service-job-id']));
      assert.equal(job.error?.code, status === 200 ? undefined : 'invalid_tool_call');
      assert.ok(job.billing.charged_microusd > 0);
    }
  });

  test("`x-should-retry` keeps OpenAI's clients from repeating what would be a new job each time", async () => {
    script.reply = () => ({ invalidToolCall: 'the call is not valid JSON' });
    assert.equal((await post({ ...chat, tools: [lookUp] })).headers['x-should-retry'], 'false');
  });

  test('a wait of 0 answers at once: with the job when it is done, else 409 `job_pending`', async () => {
    const headers = { 'idempotency-key': 'not-waited-for' };
    await withApp({ chatWaitMs: 0 }, async (app) => {
      const pending = await post(chat, { ...headers, app });
      assertError(pending, 409, 'job_pending');
      const answer = await complete(chat, headers);
      assert.deepEqual(await complete(chat, { ...headers, app }), answer);
    });
  });

  test('many wait at once, each for its own answer', async () => {
    script.reply = ({ prompt }) => sleep(10, { text: prompt.messages[0]!.content });
    const questions = Array.from({ length: 40 }, (_, index) => `question ${index}`);
    const answers = await Promise.all(
      questions.map((content) => complete({ ...chat, messages: [{ role: 'user', content }] })),
    );
    assert.deepEqual(
      answers.map(({ choices }) => choices[0]!.message.content),
      questions,
    );
  });

  test('"a client that goes away does not cancel its job"', async () => {
    let answer: (reply: Awaited<ScriptedReply>) => void = () => undefined;
    script.reply = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const headers = {
      authorization: service.key.authorization,
      'content-type': 'application/json',
      'idempotency-key': 'left-alone',
    };
    const leaving = httpRequest(`${service.url}/v1/chat/completions`, { method: 'POST', headers });
    leaving.on('error', () => undefined).end(JSON.stringify(chat));
    const left = new Promise((resolve) => leaving.on('close', resolve));
    while (script.generated.length === 0) await sleep(10);
    leaving.destroy();
    await left;
    answer({ text: 'all the same' });
    const { choices } = await complete(chat, { 'idempotency-key': 'left-alone' });
    assert.equal(choices[0]!.message.content, 'all the same');
    assert.equal(script.generated.length, 1);
  });

  test('a native receipt of the same job is not needed: the submitting key reads it at `status_url`', async () => {
    const key = await createTestKey(service.db, service.key.project_id, { scopes: ['inference'] });
    const response = await post(chat, { key });
    const { job_id } = response.json<ChatCompletion>().service;
    const read = await call(service.app, 'GET', `/v1/jobs/${job_id}`, { key });
    assert.equal(read.json<Receipt>().id, job_id);
  });
});
