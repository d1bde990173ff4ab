import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatCompletion, type ChatCompletion, type ErrorEnvelope, type Job, type Receipt } from '@engraft/contract';
import { EngineError, type GenerateRequest } from '@engraft/engine';
import type { LightMyRequestResponse } from 'fastify';
import fc from 'fast-check';
import { buildTestApp, call, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { scriptedEngine, type ScriptedReply } from '../testing/scriptedEngine.js';
import { startTestService, type TestService } from '../testing/testService.js';
import type { AppOptions } from './buildApp.js';

const answered = (): ScriptedReply => ({});
const neverAnswered = (): ScriptedReply => new Promise<never>(() => undefined);
const call42 = { id: 'call_42', name: 'look_up', arguments: '{"page": 42}' };
const wireCall42 = { id: 'call_42', type: 'function', function: { name: 'look_up', arguments: '{"page": 42}' } };
const lookUp = { type: 'function', function: { name: 'look_up' } };

/** As Mistral's template does. */
const refusedByTemplate = new EngineError('invalid_request', 'Roles must alternate user/assistant');

const chat = { model: 'model-5.3', messages: [{ role: 'user', content: 'question' }] };

/** The real service; a scripted engine injects what the model writes. */
let service: TestService;
let reply: (request: GenerateRequest) => ScriptedReply;
let generated: GenerateRequest[];
before(async () => {
  service = await startTestService(
    scriptedEngine((request) => {
      generated.push(request);
      return reply(request);
    }),
  );
});
beforeEach(() => {
  reply = answered;
  generated = [];
});
after(() => service.stop());

function post(
  body: unknown,
  { key = service.key, app = service.app, ...headers }: Record<string, unknown> = {},
): Promise<LightMyRequestResponse> {
  return call(app as TestService['app'], 'POST', '/v1/chat/completions', {
    key: key as TestKey,
    body,
    headers: headers as Record<string, string | undefined>,
  });
}

async function complete(body: unknown, headers: Record<string, unknown> = {}): Promise<ChatCompletion> {
  const response = await post(body, headers);
  assert.equal(response.statusCode, 200, response.body);
  return chatCompletion.strict().parse(response.json());
}

interface ErrorBody {
  readonly error: Readonly<Record<string, unknown>>;
}

function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
  const { error } = response.json<ErrorBody>();
  assert.deepEqual([response.statusCode, error['code'], error['param']], [status, code, param]);
}

async function readJob(jobId: string): Promise<Job> {
  return (await call(service.app, 'GET', `/v1/jobs/${jobId}`, { key: service.key })).json<Job>();
}

async function countJobs(): Promise<number> {
  const { count } = await service.db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** An app of its own on the same database, without a worker. */
async function withApp(overrides: Partial<AppOptions>, use: (app: TestService['app']) => Promise<void>): Promise<void> {
  const { app } = buildTestApp(service.db, overrides);
  await use(app);
  await app.close();
}

describe('the answer of POST /v1/chat/completions', () => {
  test('"`id`, `object` (`chat.completion`), `created` (integer), `model`, `choices`, `usage`" and "`service`: `job_id`, `subject_id`, resolved `adapter_version`"', async () => {
    const usage = { inputTokens: 20, outputTokens: 7, cachedInputTokens: 5, reasoningTokens: 4 };
    reply = () => ({ text: 'Forty-two.', usage });
    const { id, created, service: extension, ...completion } = await complete({ ...chat, subject_id: 'anna' });
    assert.match(id, /^chatcmpl_/);
    assert.ok(Math.abs(created - Date.now() / 1000) < 60);
    assert.deepEqual(extension, { job_id: extension.job_id, subject_id: 'anna', adapter_version: 'base' });
    assert.deepEqual(completion, {
      model: 'model-5.3',
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Forty-two.' }, finish_reason: 'stop', logprobs: null },
      ],
      usage: {
        prompt_tokens: 20,
        completion_tokens: 7,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
  });

  test('"`choices[0].message` holds final text, `tool_calls`, or both; `finish_reason` is `stop`, `length` or `tool_calls`"', async () => {
    const messageOf = async () => {
      const { message, finish_reason } = (await complete({ ...chat, tools: [lookUp] })).choices[0]!;
      return { ...message, finish_reason };
    };
    reply = () => ({ text: '', toolCalls: [call42], finishReason: 'tool_calls' });
    const toolCalls = [wireCall42];
    const called = { role: 'assistant', content: null, tool_calls: toolCalls, finish_reason: 'tool_calls' };
    assert.deepEqual(await messageOf(), called);
    reply = () => ({ text: 'Wait.', toolCalls: [call42], finishReason: 'tool_calls' });
    assert.deepEqual(await messageOf(), { ...called, content: 'Wait.' });
    reply = () => ({ text: '', finishReason: 'length' });
    assert.deepEqual(await messageOf(), { role: 'assistant', content: '', finish_reason: 'length' });
  });

  test('"Headers on success: `X-Service-Job-Id`, `Idempotency-Key`, `X-Request-Id`."', async () => {
    const response = await post(chat, { 'idempotency-key': 'the-key-of-the-caller' });
    assert.equal(response.headers['idempotency-key'], 'the-key-of-the-caller');
    assert.equal(response.headers['x-service-job-id'], response.json<ChatCompletion>().service.job_id);
    assert.match(String(response.headers['x-request-id']), /^req_/);
  });

  test('"If `Idempotency-Key` is omitted the gateway generates one and returns it in the header."', async () => {
    const first = await post(chat);
    const generatedKey = String(first.headers['idempotency-key']);
    assert.match(generatedKey, /^[a-zA-Z0-9][a-zA-Z0-9_.:-]{7,127}$/);
    const again = await post(chat, { 'idempotency-key': generatedKey });
    assert.deepEqual(again.json(), first.json());
    assert.notEqual((await post(chat)).headers['idempotency-key'], generatedKey);
    assertError(await post(chat, { 'idempotency-key': 'short' }), 422, 'invalid_request', 'Idempotency-Key');
  });

  test('the job is an inference like any other: "adapter ownership checks, rates, reservations and settlement are those of native inference"', async () => {
    const { service: extension } = await complete({ ...chat, max_tokens: 100 });
    const job = await readJob(extension.job_id);
    assert.deepEqual([job.kind, job.status, job.phase], ['inference', 'succeeded', 'done']);
    assert.equal(job.billing.reserved_microusd, 9 * 12 + 100 * 30);
    assert.equal(job.billing.charged_microusd, 9 * 12 + 3 * 30);
  });
});

describe('what the model gets', () => {
  test('"`developer` is treated as `system`", parts are joined, `null` beside calls is no text', async () => {
    await complete({
      ...chat,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look ' },
            { type: 'text', text: 'it up.' },
          ],
          name: 'eva',
        },
        { role: 'assistant', content: null, tool_calls: [wireCall42] },
        { role: 'tool', content: [{ type: 'text', text: 'nothing' }], tool_call_id: 'call_42' },
      ],
      tools: [{ ...lookUp, function: { ...lookUp.function, strict: false } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      temperature: 0.5,
      max_completion_tokens: 77,
    });
    const { prompt, maxOutputTokens, temperature, toolChoice, parallelToolCalls } = generated[0]!;
    assert.deepEqual(prompt, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Look it up.', name: 'eva' },
        { role: 'assistant', content: '', toolCalls: [call42] },
        { role: 'tool', content: 'nothing', toolCallId: 'call_42' },
      ],
      tools: [{ name: 'look_up', parameters: { type: 'object', properties: {} } }],
      // As a passage is learned.
      thinking: false,
    });
    assert.deepEqual([maxOutputTokens, temperature, toolChoice, parallelToolCalls], [77, 0.5, { kind: 'auto' }, false]);
  });

  test('no function with `tool_choice` `none`, so that it writes no call as its text', async () => {
    await complete({ ...chat, tools: [lookUp], tool_choice: 'none' });
    const { prompt, toolChoice } = generated[0]!;
    assert.deepEqual([prompt.tools, toolChoice], [undefined, { kind: 'none' }]);
  });

  test('"exactly one result for each (any order, nothing between)": each stands where its call does', async () => {
    const call43 = { ...wireCall42, id: 'call_43' };
    const resultOf = (id: string) => ({ role: 'tool', content: `of ${id}`, tool_call_id: id });
    await complete({
      ...chat,
      messages: [
        ...chat.messages,
        { role: 'assistant', content: null, tool_calls: [wireCall42, call43] },
        resultOf('call_43'),
        resultOf('call_42'),
        { role: 'assistant', content: 'so' },
        { role: 'user', content: 'and now?' },
      ],
    });
    assert.deepEqual(
      generated[0]!.prompt.messages.map(({ content }) => content),
      ['question', '', 'of call_42', 'of call_43', 'so', 'and now?'],
    );
  });

  test('more calls in one message than the native limit of 16', async () => {
    const toolCalls = Array.from({ length: 17 }, (_, index) => ({ ...wireCall42, id: `call_${index}` }));
    const results = toolCalls.map(({ id }) => ({ role: 'tool', content: '', tool_call_id: id }));
    await complete({ ...chat, messages: [{ role: 'assistant', tool_calls: toolCalls }, ...results] });
    assert.equal(generated[0]!.prompt.messages[0]!.toolCalls!.length, 17);
  });
});

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
    assert.equal(generated.length, 1);
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
    assert.equal(generated.length, 1);
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

describe('waiting', () => {
  test('"If the job is pending, failed or in reconciliation after admission, the response is 409 with `error.job_id`, `error.status_url`, `retryable: false`"', async () => {
    reply = neverAnswered;
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
    reply = () => ({ text: 'no JSON' });
    const headers = { 'idempotency-key': 'asked-for-json' };
    const body = { ...chat, response_format: { type: 'json_object' } };
    for (const response of [await post(body, headers), await post(body, headers)]) {
      assertError(response, 409, 'job_failed');
      assert.match(String(response.json<ErrorBody>().error['message']), /invalid_json_output/);
    }
    const job = await readJob(String((await post(body, headers)).headers['x-service-job-id']));
    assert.deepEqual([job.status, job.error?.code], ['failed', 'invalid_json_output']);
    assert.ok(job.billing.charged_microusd > 0);
    reply = () => ({ text: '{"answer": 42}' });
    assert.equal((await complete(body)).choices[0]!.message.content, '{"answer": 42}');
  });

  test('"function argument string: 16,000 units": a call that could not be sent back fails the job, charged', async () => {
    for (const [units, status] of [
      [16_000, 200],
      [16_001, 409],
    ] as const) {
      const text = JSON.stringify({ text: '' });
      const filled = text.replace('""', `"${'x'.repeat(units - text.length)}"`);
      reply = () => ({ text: '', toolCalls: [{ ...call42, arguments: filled }], finishReason: 'tool_calls' });
      const response = await post({ ...chat, tools: [lookUp] });
      assert.equal(response.statusCode, status);
      const job = await readJob(String(response.headers['x-service-job-id']));
      assert.equal(job.error?.code, status === 200 ? undefined : 'invalid_tool_call');
      assert.ok(job.billing.charged_microusd > 0);
    }
  });

  test("`x-should-retry` keeps OpenAI's clients from repeating what would be a new job each time", async () => {
    reply = () => ({ invalidToolCall: 'the call is not valid JSON' });
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
    reply = ({ prompt }) => sleep(10, { text: prompt.messages[0]!.content });
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
    reply = () =>
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
    while (generated.length === 0) await sleep(10);
    leaving.destroy();
    await left;
    answer({ text: 'all the same' });
    const { choices } = await complete(chat, { 'idempotency-key': 'left-alone' });
    assert.equal(choices[0]!.message.content, 'all the same');
    assert.equal(generated.length, 1);
  });

  test('a native receipt of the same job is not needed: the submitting key reads it at `status_url`', async () => {
    const key = await createTestKey(service.db, service.key.project_id, { scopes: ['inference'] });
    const response = await post(chat, { key });
    const { job_id } = response.json<ChatCompletion>().service;
    const read = await call(service.app, 'GET', `/v1/jobs/${job_id}`, { key });
    assert.equal(read.json<Receipt>().id, job_id);
  });
});
