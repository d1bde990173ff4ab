import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, it } from 'node:test';
import type { EngraftClient } from './client.js';
import { EngraftConnectionError } from './errors.js';
import { CannedServer, failure, hangUp, reply } from './testing/cannedServer.js';

describe('chat.completions', () => {
  const server = new CannedServer();
  const serve = server.serve.bind(server);
  afterEach(() => server.close());

  const chat = { model: 'model-5.3', messages: [{ role: 'user' as const, content: 'Hello?' }] };
  const extension = { job_id: 'job_1', subject_id: 'default', adapter_version: 'base' };
  const completion = {
    id: 'chatcmpl_1',
    object: 'chat.completion',
    created: 1,
    model: 'model-5.3',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop', logprobs: null }],
    usage: {
      prompt_tokens: 1,
      completion_tokens: 1,
      total_tokens: 2,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    service: extension,
  };
  const chunk = (delta: object, finishReason: string | null) => ({
    id: 'chatcmpl_1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'model-5.3',
    choices: [{ index: 0, delta, finish_reason: finishReason, logprobs: null }],
    service: extension,
  });
  const chunks = [chunk({ role: 'assistant', content: 'Hi.' }, null), chunk({}, 'stop')];
  const data = (...values: unknown[]) => values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('');
  const stream =
    (text: string, { lost = false } = {}) =>
    (response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // In pieces that end anywhere.
      for (const piece of text.match(/[^]{1,7}/g) ?? []) response.write(piece);
      if (lost) setTimeout(() => response.destroy(), 20);
      else response.end();
    };
  async function read(client: EngraftClient): Promise<unknown[]> {
    const received: unknown[] = [];
    for await (const value of await client.chat.completions.create({ ...chat, stream: true })) received.push(value);
    return received;
  }

  it('answers with the completion, and repeats under one idempotency key', async () => {
    const client = await serve(hangUp, reply(503, failure('service_unavailable')), reply(200, completion));
    assert.deepEqual(await client.chat.completions.create(chat, { subject: 'anna', tenant: 'acme' }), completion);
    assert.equal(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
    assert.equal(server.seen[0]!.path, '/v1/chat/completions');
    assert.equal(server.seen[0]!.headers['x-service-subject'], 'anna');
    assert.equal(server.seen[0]!.headers['x-service-tenant'], 'acme');
  });

  it('names the job that has not succeeded, and does not repeat it', async () => {
    const where = { job_id: 'job_1', status_url: '/v1/jobs/job_1' };
    const client = await serve(reply(409, failure('job_pending', where)));
    await assert.rejects(client.chat.completions.create(chat), { code: 'job_pending', ...where, status: 409 });
    assert.equal(server.seen.length, 1);
  });

  it('iterates over the chunks of a stream', async () => {
    const client = await serve(
      stream(`: keepalive\n\n${data(chunks[0])}: keepalive\r\n\r\n${data(chunks[1])}data: [DONE]\n\n`),
    );
    assert.deepEqual(await read(client), chunks);
  });

  it('gives lines that only JavaScript takes for two', async () => {
    const chunk = { ...chunks[0], id: 'one\u2028two\u2029three' };
    assert.deepEqual(await read(await serve(stream(`${data(chunk)}data: [DONE]\n\n`))), [chunk]);
  });

  it('rejects with the error of a stream', async () => {
    const where = { job_id: 'job_1', status_url: '/v1/jobs/job_1' };
    const client = await serve(stream(`${data(failure('job_failed', where))}data: [DONE]\n\n`));
    await assert.rejects(read(client), { name: 'EngraftApiError', code: 'job_failed', status: 409, ...where });
  });

  it('opens a stream again that broke before its first chunk, under the same idempotency key', async () => {
    const whole = stream(`${data(...chunks)}data: [DONE]\n\n`);
    const client = await serve(stream(': keepalive\n\n', { lost: true }), stream(': keepalive\n\n'), whole);
    assert.deepEqual(await read(client), chunks);
    assert.equal(server.seen.length, 3);
    assert.equal(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
  });

  it('does not give a chunk twice: a stream that breaks after one is lost', async () => {
    const client = await serve(stream(data(chunks[0]), { lost: true }));
    await assert.rejects(read(client), EngraftConnectionError);
    assert.equal(server.seen.length, 1);
  });

  it('refuses chunks that the contract does not allow', async () => {
    for (const text of ['data: {"choices": []}\n\n', 'data: {\n\n']) {
      await assert.rejects(read(await serve(stream(text))), EngraftConnectionError);
      server.close();
    }
  });
});
