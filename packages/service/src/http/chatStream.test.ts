import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chatCompletionChunk,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ErrorEnvelope,
} from '@engraft/contract';
import { scriptedEngine, type ScriptedReply } from '../testing/scriptedEngine.js';
import { buildTestApp, call } from '../testing/testApp.js';
import { startTestService, type TestService } from '../testing/testService.js';

const chat = { model: 'model-5.3', messages: [{ role: 'user', content: 'question' }], stream: true };
const lookUp = { type: 'function', function: { name: 'look_up' } };

/** The real service over HTTP; a scripted engine injects what the model writes, and when. */
describe('"Buffered SSE"', () => {
  let service: TestService;
  let reply: () => ScriptedReply;
  before(async () => {
    service = await startTestService(
      scriptedEngine(() => reply()),
      { keepaliveMs: 30 },
    );
  });
  beforeEach(() => {
    reply = () => ({});
  });
  after(() => service.stop());

  function open(body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: service.key.authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** The events in order, with what is data parsed. */
  function parse(text: string): unknown[] {
    assert.ok(text.endsWith('\n\n'));
    const events = text.split('\n\n').slice(0, -1);
    return events.flatMap((event) => {
      if (event.startsWith(': ')) return [];
      assert.match(event, /^data: [^\n]*$/);
      return [event === 'data: [DONE]' ? 'done' : (JSON.parse(event.slice(6)) as unknown)];
    });
  }

  async function stream(body: object, headers: Record<string, string> = {}) {
    const response = await open(body, headers);
    assert.equal(response.status, 200);
    const events = parse(await response.text());
    assert.equal(events.pop(), 'done');
    return { response, events };
  }

  async function chunksOf(body: object): Promise<ChatCompletionChunk[]> {
    return (await stream(body)).events.map((event) => chatCompletionChunk.strict().parse(event));
  }

  test('"a content/tool delta …, a finish chunk, optional usage chunk, then `[DONE]`"', async () => {
    reply = () => ({ text: 'Forty-two.' });
    const [content, finish, ...more] = await chunksOf(chat);
    assert.deepEqual(more, []);
    assert.deepEqual(content!.choices, [
      { index: 0, delta: { role: 'assistant', content: 'Forty-two.' }, finish_reason: null, logprobs: null },
    ]);
    assert.deepEqual(finish!.choices, [{ index: 0, delta: {}, finish_reason: 'stop', logprobs: null }]);
    for (const { object, model, id } of [content!, finish!]) {
      assert.deepEqual([object, model, id], ['chat.completion.chunk', 'model-5.3', content!.id]);
    }
  });

  test('"tool deltas carry index, id, function name and the complete argument string"', async () => {
    const toolCalls = [1, 2].map((page) => ({ id: `call_${page}`, name: 'look_up', arguments: `{"page": ${page}}` }));
    reply = () => ({ text: '', toolCalls, finishReason: 'tool_calls' });
    const [content, finish] = await chunksOf({ ...chat, tools: [lookUp] });
    assert.deepEqual(content!.choices[0]!.delta, {
      role: 'assistant',
      content: null,
      tool_calls: [1, 2].map((page, index) => ({
        index,
        id: `call_${page}`,
        type: 'function',
        function: { name: 'look_up', arguments: `{"page": ${page}}` },
      })),
    });
    assert.equal(finish!.choices[0]!.finish_reason, 'tool_calls');
  });

  test('`stream_options.include_usage`: "adds a final usage chunk when streaming"', async () => {
    const chunks = await chunksOf({ ...chat, stream_options: { include_usage: true } });
    assert.deepEqual(
      chunks.map(({ usage }) => usage),
      [null, null, chunks[2]!.usage],
    );
    assert.deepEqual(chunks[2]!.choices, []);
    assert.deepEqual(chunks[2]!.usage, {
      prompt_tokens: 9,
      completion_tokens: 3,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    });
  });

  test('`text/event-stream` with "`X-Service-Job-Id`, `Idempotency-Key`, `X-Request-Id`", and the same job as JSON', async () => {
    const { response, events } = await stream(chat);
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.match(response.headers.get('x-request-id') ?? '', /^req_/);
    const headers = { 'idempotency-key': response.headers.get('idempotency-key') ?? '' };
    const completion = (await (await open({ ...chat, stream: false }, headers)).json()) as ChatCompletion;
    assert.equal(completion.service.job_id, response.headers.get('x-service-job-id'));
    const [content] = events as ChatCompletionChunk[];
    assert.equal(content!.choices[0]!.delta.content, completion.choices[0]!.message.content);
    assert.deepEqual([content!.id, content!.created], [completion.id, completion.created]);
    assert.deepEqual(content!.service, completion.service);
  });

  test('"keepalive comments while the job runs", the first at once', async () => {
    reply = () => sleep(250, {});
    const response = await open(chat);
    const started = response.headers.get('x-service-job-id');
    assert.ok(started !== null, 'the head of the response comes before the answer');
    const comments = (await response.text()).match(/^: .*\n\n/gm) ?? [];
    assert.ok(comments.length >= 3, `${comments.length} comments`);
  });

  test('"In an admitted stream the same envelope is sent in a data frame before `[DONE]`": failed', async () => {
    reply = () => ({ text: 'no JSON' });
    const { response, events } = await stream({ ...chat, response_format: { type: 'json_object' } });
    const jobId = response.headers.get('x-service-job-id');
    assert.deepEqual(events, [
      {
        error: {
          code: 'job_failed',
          retryable: false,
          request_id: response.headers.get('x-request-id'),
          message: 'The job failed (invalid_json_output); read it at status_url before retrying.',
          job_id: jobId,
          status_url: `/v1/jobs/${jobId}`,
        },
      },
    ]);
  });

  test('the same, pending and in reconciliation', async () => {
    reply = () => new Promise<never>(() => undefined);
    const { app } = buildTestApp(service.db, { chatWaitMs: 50 });
    const headers = { 'idempotency-key': 'never-answered' };
    const post = () => call(app, 'POST', '/v1/chat/completions', { key: service.key, body: chat, headers });
    const codesOf = (text: string) =>
      parse(text).map((event) => (event as Partial<ErrorEnvelope>).error?.code ?? event);
    const pending = await post();
    assert.deepEqual(codesOf(pending.body), ['job_pending', 'done']);
    await service.db
      .updateTable('jobs')
      .set({ status: 'reconciliation_required', error_code: 'receipt_missing' })
      .where('id', '=', String(pending.headers['x-service-job-id']))
      .execute();
    assert.deepEqual(codesOf((await post()).body), ['job_reconciliation_required', 'done']);
    await app.close();
  });

  test('an unforeseen error after admission is an envelope too, and names nothing of the internals', async () => {
    const headers = { 'idempotency-key': 'damaged-result' };
    const response = await open(chat, headers);
    await response.text();
    await service.db
      .updateTable('jobs')
      .set({ result: JSON.stringify({ secret: 1 }) })
      .where('id', '=', response.headers.get('x-service-job-id') ?? '')
      .execute();
    const { events } = await stream(chat, headers);
    assert.match(JSON.stringify(events), /"code":"internal_error","retryable":false,"request_id":"req_/);
    assert.doesNotMatch(JSON.stringify(events), /secret|finish_reason/);
  });

  test('a service that stops still answers who waits, and then nobody keeps it open', { timeout: 30_000 }, async () => {
    reply = () => new Promise<never>(() => undefined);
    const { app } = buildTestApp(service.db, { chatWaitMs: 300 });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { authorization: service.key.authorization, 'content-type': 'application/json' };
    const post = (body: object) =>
      fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) });
    const streamed = await post(chat);
    const closed = app.close();
    assert.match(await streamed.text(), /"code":"job_pending"[^]*\[DONE\]/);
    await closed;
  });

  test('"Cancelling the client stream does not cancel the job."', async () => {
    reply = () => sleep(300, { text: 'all the same' });
    const headers = { 'idempotency-key': 'cancelled-stream' };
    const response = await open(chat, headers);
    await response.body?.cancel();
    const completion = (await (await open({ ...chat, stream: false }, headers)).json()) as ChatCompletion;
    assert.equal(completion.choices[0]!.message.content, 'all the same');
    assert.equal(completion.service.job_id, response.headers.get('x-service-job-id'));
  });
});
