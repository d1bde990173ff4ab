import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { computeChargeMicrousd, currentPriceCard, job as jobSchema, type Job, type Receipt } from '@engraft/contract';
import type { GenerateRequest } from '@engraft/engine';
import { scriptedEngine, type ScriptedReply } from '@engraft/service/testing/scriptedEngine.js';
import { call } from '@engraft/service/testing/testApp.js';
import { startTestService, type TestService } from '@engraft/service/testing/testService.js';

let service: TestService;
let reply: ScriptedReply;
let asked: GenerateRequest[];
before(async () => {
  service = await startTestService(
    scriptedEngine((request) => {
      asked.push(request);
      return reply;
    }),
  );
});
beforeEach(() => {
  reply = {};
  asked = [];
});
after(() => service.stop());

let sent = 0;
const messages = [{ role: 'user', content: 'question' }];

async function post(path: string, body: object, idempotencyKey = `job-rule-${(sent += 1)}`): Promise<Receipt> {
  const headers = { 'idempotency-key': idempotencyKey };
  const response = await call(service.app, 'POST', path, { key: service.key, headers, body });
  assert.ok(response.statusCode === 202 || response.statusCode === 200, response.body);
  return response.json<Receipt>();
}

async function read({ status_url }: Receipt): Promise<Job> {
  const response = await call(service.app, 'GET', status_url, { key: service.key });
  assert.equal(response.statusCode, 200, response.body);
  return jobSchema.parse(response.json());
}

/** Polls, as callers do. */
async function ended(receipt: Receipt): Promise<Job> {
  for (;;) {
    const job = await read(receipt);
    if (job.status !== 'queued' && job.status !== 'running') return job;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const ask = (body: object = {}): Promise<Job> =>
  post('/v1/inferences', { subject_id: 'subject', messages, ...body }).then(ended);

describe('jobs of inference', () => {
  test('"admit a job and return a receipt; the outcome is read from the job": "Job outcomes are obtained by polling `GET /v1/jobs/{id}`."', async () => {
    const receipt = await post('/v1/inferences', { subject_id: 'subject', messages });
    assert.deepEqual(Object.keys(receipt), ['id', 'status_url']);
    const job = await ended(receipt);
    assert.deepEqual([job.id, job.kind, job.status], [receipt.id, 'inference', 'succeeded']);
  });

  test('"`id`: durable job ID; `status_url`: path `/v1/jobs/<job_id>` to poll"', async () => {
    const receipt = await post('/v1/inferences', { subject_id: 'subject', messages });
    assert.match(receipt.id, /^job_[\w-]{24}$/);
    assert.equal(receipt.status_url, `/v1/jobs/${receipt.id}`);
    await ended(receipt);
  });

  test('"Returned directly, not wrapped: `id`, `tenant_id`, `subject_id`, `kind`, `status`, `phase`, `adapter_version`, `usage`, `billing`, `result`, `error`, `created_at`, `updated_at`."', async () => {
    const { id } = await ask();
    const job = (await call(service.app, 'GET', `/v1/jobs/${id}`, { key: service.key })).json<
      Record<string, unknown>
    >();
    assert.deepEqual(Object.keys(job).sort(), Object.keys(jobSchema.shape).sort());
    assert.deepEqual([job['subject_id'], job['phase'], job['error']], ['subject', 'done', null]);
  });

  test('"`tenant_id`: tenant; `null` for the project namespace"', async () => {
    assert.equal((await ask()).tenant_id, null);
    const headers = { 'x-service-tenant': 'blue' };
    const { status_url } = await post('/v1/inferences', { subject_id: 'subject', tenant_id: 'blue', messages });
    const response = await call(service.app, 'GET', status_url, { key: service.key, headers });
    assert.equal(response.json<Job>().tenant_id, 'blue');
  });

  test('"`adapter_version`: version resolved at admission, or `base`"', async () => {
    assert.equal((await ask()).adapter_version, 'base');
  });

  test('"Timestamps are ISO 8601 UTC strings."', async () => {
    const { created_at, updated_at } = await ask();
    for (const time of [created_at, updated_at]) assert.equal(new Date(time).toISOString(), time);
    assert.ok(created_at <= updated_at);
  });

  test('"`usage.cached_input_tokens`: subset of input tokens", "`usage.output_tokens`: recorded output tokens, including reasoning", charged by the card', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, cachedInputTokens: 64, reasoningTokens: 30 };
    reply = { text: 'yes', usage };
    const job = await ask();
    const counted = { input_tokens: 100, output_tokens: 40, cached_input_tokens: 64, training_tokens: 0 };
    assert.deepEqual(job.usage, counted);
    assert.equal(job.billing.charged_microusd, computeChargeMicrousd(counted, currentPriceCard));
  });

  test('"`billing.reserved_microusd`: original reservation, retained", "`billing.compute_microusd`, `billing.storage_microusd`: breakdown of the settled charge"', async () => {
    const { billing } = await ask({ max_output_tokens: 10 });
    // A token for each unit of the question and one for the message, and ten of output.
    assert.equal(billing.reserved_microusd, 9 * 12 + 10 * 30);
    assert.equal(billing.settled, true);
    assert.equal(billing.charged_microusd, billing.compute_microusd + billing.storage_microusd);
    assert.ok(billing.charged_microusd <= billing.reserved_microusd);
  });

  test('"`billing.charged_microusd`: settled charge; final only when `billing.settled` is true"', async () => {
    let answer: ((result: object) => void) | undefined;
    reply = new Promise((resolve) => {
      answer = resolve;
    });
    const receipt = await post('/v1/inferences', { subject_id: 'subject', messages });
    const { billing } = await read(receipt);
    assert.deepEqual([billing.settled, billing.charged_microusd], [false, 0]);
    answer?.({});
    assert.equal((await ended(receipt)).billing.settled, true);
  });

  test('"Amounts of money are in micro-USD (1,000,000 micro-USD = 1 USD)": integers', async () => {
    const { billing } = await ask();
    for (const amount of [billing.reserved_microusd, billing.charged_microusd]) assert.ok(Number.isInteger(amount));
  });

  test('"each job records `billing.pricing_version` fixed at admission": that of the catalogue', async () => {
    const catalogue = await call(service.app, 'GET', '/v1/models', { key: service.key });
    const [model] = catalogue.json<{ data: { pricing: { version: string } }[] }>().data;
    assert.equal((await ask()).billing.pricing_version, model?.pricing.version);
  });

  test('"Inference result (status `succeeded`): `text` (string), `finish_reason` (string)"', async () => {
    reply = { text: 'Five years.' };
    const job = await ask();
    assert.deepEqual(job.result, { text: 'Five years.', finish_reason: 'stop' });
  });

  test('"the output ceiling being reached can be reflected here, so success does not guarantee an untruncated answer"', async () => {
    reply = { text: 'Five', finishReason: 'length' };
    const job = await ask({ max_output_tokens: 3 });
    assert.deepEqual([job.status, job.result], ['succeeded', { text: 'Five', finish_reason: 'length' }]);
    assert.equal(asked[0]?.maxOutputTokens, 3);
  });

  test('"Native `finish_reason`: `stop`, `length`, `tool_calls`; with `tool_calls` the result also has `tool_calls`." "The server emits function calls; the caller executes them."', async () => {
    reply = { text: '', finishReason: 'tool_calls', toolCalls: [{ id: 'c', name: 'f', arguments: '{"a":1}' }] };
    const job = await ask({ tools: [{ type: 'function', function: { name: 'f' } }] });
    const toolCalls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }];
    assert.deepEqual(job.result, { text: '', finish_reason: 'tool_calls', tool_calls: toolCalls });
    assert.equal(asked.length, 1);
  });

  test('"a call to an unknown function, or arguments that are not a JSON object, fail the job (`invalid_tool_call`) with the tokens charged": "a failed job has `error.code` and `error.retryable` (currently false)"', async () => {
    reply = { text: '', invalidToolCall: '"g" was not offered' };
    const job = await ask({ tools: [{ type: 'function', function: { name: 'f' } }] });
    assert.deepEqual([job.status, job.error], ['failed', { code: 'invalid_tool_call', retryable: false }]);
    assert.ok(job.billing.charged_microusd > 0);
  });

  test('"Source knowledge is never injected into later inference requests." "An inference uses only the messages the caller sends plus the selected adapter."', async () => {
    const secret = 'The vault code of the Halden branch is 4711, and nobody else knows it.';
    await post('/v1/internalizations', { subject_id: 'subject', content: secret, max_cost_microusd: 1_000_000 });
    await ask();
    const [request] = asked;
    assert.deepEqual(request?.prompt.messages, messages);
    assert.equal(request.adapter, null);
    assert.ok(!JSON.stringify(asked).includes('4711'));
  });

  test('"No conversation is stored between calls; the caller sends any history."', async () => {
    await ask({ messages: [{ role: 'user', content: 'My name is Ada.' }] });
    await ask({ messages: [{ role: 'user', content: 'What is my name?' }] });
    assert.deepEqual(asked[1]?.prompt.messages, [{ role: 'user', content: 'What is my name?' }]);
  });

  test('"After a failed connection, recover with the same key and payload and poll the original job."', async () => {
    const body = { subject_id: 'subject', messages };
    const lost = await post('/v1/inferences', body, 'after-a-failure');
    const recovered = await post('/v1/inferences', body, 'after-a-failure');
    assert.deepEqual(recovered, lost);
    assert.equal((await ended(recovered)).status, 'succeeded');
    assert.equal(asked.length, 1);
  });
});
