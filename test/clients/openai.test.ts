import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { GenerateRequest } from '@engraft/engine';
import { scriptedEngine, type ScriptedReply } from '@engraft/service/testing/scriptedEngine.js';
import { createTestKey, createTestProject } from '@engraft/service/testing/testApp.js';
import { startTestService, type TestService } from '@engraft/service/testing/testService.js';
import OpenAI, {
  APIError,
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
  UnprocessableEntityError,
} from 'openai';
import type { ChatCompletionChunk, ChatCompletionMessageParam } from 'openai/resources/chat/completions';

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'question' }];
const question = { model: 'model-5.3', messages };

/** The official client, unchanged, over HTTP. A scripted engine injects what the model writes. */
describe('the openai client', () => {
  let service: TestService;
  let client: OpenAI;
  let reply: (request: GenerateRequest) => ScriptedReply;
  let generated: GenerateRequest[];
  before(async () => {
    service = await startTestService(
      scriptedEngine((request) => {
        generated.push(request);
        return reply(request);
      }),
      { keepaliveMs: 50 },
    );
    client = clientOf(service.key.secret);
  });
  beforeEach(() => {
    generated = [];
    reply = () => ({ text: 'Forty-two.' });
  });
  after(() => service.stop());

  const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${service.url}/v1`, apiKey });

  /** First the call of a function, and the answer when its result is there. */
  const callThenAnswer = ({ prompt }: GenerateRequest): ScriptedReply => {
    const result = prompt.messages.find(({ role }) => role === 'tool');
    if (result !== undefined) return { text: `It is ${result.content}.` };
    const toolCalls = [{ id: 'call_1', name: 'look_up', arguments: '{"page": 42}' }];
    return { text: '', toolCalls, finishReason: 'tool_calls' };
  };
  const lookUp = {
    type: 'function' as const,
    function: {
      name: 'look_up',
      description: 'Looks up a page.',
      parameters: { type: 'object', properties: { page: { type: 'number' } } },
      parse: (text: string) => JSON.parse(text) as { page: number },
      function: ({ page }: { page: number }) => `page ${page}`,
    },
  };

  it('completes, with the request id and the job', async () => {
    const { data, response, request_id } = await client.chat.completions.create(question).withResponse();
    assert.equal(data.choices[0]?.message.content, 'Forty-two.');
    assert.equal(data.choices[0].finish_reason, 'stop');
    assert.equal(data.usage?.total_tokens, 12);
    assert.match(request_id ?? '', /^req_/);
    assert.equal((await client.chat.completions.create(question))._request_id?.slice(0, 4), 'req_');
    assert.match(response.headers.get('x-service-job-id') ?? '', /^job_/);
  });

  it('names a subject and an idempotency key in headers', async () => {
    const headers = { 'X-Service-Subject': 'anna', 'Idempotency-Key': 'asked-by-openai' };
    const first = await client.chat.completions.create(question, { headers });
    const again = await client.chat.completions.create({ ...question, stream: false }, { headers });
    assert.deepEqual([again.id, again.choices], [first.id, first.choices]);
    assert.equal(generated.length, 1);
  });

  it('streams chunks', async () => {
    const chunks: ChatCompletionChunk[] = [];
    const streamOptions = { include_usage: true };
    const stream = await client.chat.completions.create({ ...question, stream: true, stream_options: streamOptions });
    for await (const chunk of stream) chunks.push(chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    assert.equal(text, 'Forty-two.');
    assert.equal(chunks.at(-1)?.usage?.completion_tokens, 3);
  });

  it('accumulates a stream with its helper', async () => {
    const deltas: string[] = [];
    const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
    stream.on('content', (delta) => void deltas.push(delta));
    assert.equal(await stream.finalContent(), 'Forty-two.');
    assert.deepEqual(deltas, ['Forty-two.']);
    const completion = await stream.finalChatCompletion();
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    assert.equal((await stream.totalUsage()).total_tokens, 12);
  });

  it('runs tools', async () => {
    reply = callThenAnswer;
    const runner = client.chat.completions.runTools({ ...question, tools: [lookUp] });
    assert.equal(await runner.finalContent(), 'It is page 42.');
    assert.deepEqual(
      generated[1]?.prompt.messages.map(({ role, toolCallId }) => [role, toolCallId]),
      [
        ['user', undefined],
        ['assistant', undefined],
        ['tool', 'call_1'],
      ],
    );
  });

  it('runs tools over streams', async () => {
    reply = callThenAnswer;
    const runner = client.chat.completions.runTools({ ...question, tools: [lookUp], stream: true });
    const calls: string[] = [];
    runner.on('functionToolCall', ({ name, arguments: text }) => void calls.push(`${name} ${text}`));
    assert.equal(await runner.finalContent(), 'It is page 42.');
    assert.deepEqual(calls, ['look_up {"page": 42}']);
    assert.equal(generated.length, 2);
  });

  it('takes back the messages of its helpers as they are', async () => {
    reply = callThenAnswer;
    const { type, function: called } = lookUp;
    const tools = [{ type, function: { name: called.name, parameters: called.parameters } }];
    const stream = client.chat.completions.stream({ ...question, tools });
    const streamed = (await stream.finalChatCompletion()).choices[0]?.message;
    assert.ok(streamed !== undefined && 'parsed' in streamed);
    const parsed = (await client.chat.completions.parse(question)).choices[0]?.message;
    for (const message of [streamed, parsed]) {
      assert.ok(message !== undefined);
      const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'page 42' };
      const answer = await client.chat.completions.create({ ...question, messages: [...messages, message, result] });
      assert.equal(answer.choices[0]?.message.content, 'It is page 42.');
    }
  });

  it('lists the one model', async () => {
    const { data } = await client.models.list();
    assert.deepEqual(
      data.map(({ id }) => id),
      ['model-5.3'],
    );
  });

  it('throws its own classes of errors, with code, field and request id', async () => {
    const failureOf = async (promise: Promise<unknown>): Promise<APIError> => {
      const error: unknown = await promise.then(
        () => null,
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof APIError, String(error));
      assert.match(error.requestID ?? '', /^req_/);
      return error;
    };
    const ask = (body: object = {}, asking = client) =>
      failureOf(asking.chat.completions.create({ ...question, ...body }));

    const retrieved = await failureOf(client.models.retrieve('model-5.3'));
    assert.ok(retrieved instanceof NotFoundError);
    assert.match(retrieved.message, /GET \/v1\/models/);

    const wrong = await ask({ logprobs: true });
    assert.ok(wrong instanceof UnprocessableEntityError);
    assert.deepEqual([wrong.code, wrong.param], ['invalid_request', 'logprobs']);
    assert.match(wrong.message, /logprobs/);

    assert.ok((await ask({}, clientOf('nothing'))) instanceof AuthenticationError);
    const reader = await createTestKey(service.db, service.key.project_id, { scopes: ['read'] });
    assert.ok((await ask({}, clientOf(reader.secret))) instanceof PermissionDeniedError);
    assert.ok((await ask({ subject_id: 'anna', adapter_version: 'ver_none' })) instanceof NotFoundError);
    const poor = await createTestKey(service.db, await createTestProject(service.db, 0));
    const unpaid = await ask({}, clientOf(poor.secret));
    assert.deepEqual([unpaid.status, unpaid.code], [402, 'insufficient_credits']);
  });

  it('does not repeat a failed job, and shows which one it is', async () => {
    reply = () => ({ text: 'no JSON' });
    await assert.rejects(
      client.chat.completions.create({ ...question, response_format: { type: 'json_object' } }),
      (error) => {
        assert.ok(error instanceof ConflictError);
        assert.equal(error.code, 'job_failed');
        assert.match(JSON.stringify(error.error), /"status_url":"\/v1\/jobs\/job_/);
        return true;
      },
    );
    assert.equal(generated.length, 1);
  });

  it('throws the error of a stream', async () => {
    reply = () => ({ text: 'no JSON' });
    const responseFormat = { type: 'json_object' } as const;
    const stream = await client.chat.completions.create({ ...question, response_format: responseFormat, stream: true });
    await assert.rejects(
      async () => {
        for await (const chunk of stream) assert.fail(chunk.id);
      },
      (error) => error instanceof APIError && error.code === 'job_failed',
    );
    await assert.rejects(
      client.chat.completions.stream({ ...question, response_format: responseFormat }).finalContent(),
      APIError,
    );
  });
});
