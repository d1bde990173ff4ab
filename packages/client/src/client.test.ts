import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { EngraftClient } from './client.js';
import { EngraftApiError, EngraftConnectionError } from './errors.js';

interface SeenRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const inference = { subject_id: 'anna', messages: [{ role: 'user' as const, content: 'Hello?' }] };
const receipt = { id: 'job_1', status_url: '/v1/jobs/job_1' };
const job = (status: string) => ({
  id: 'job_1',
  tenant_id: null,
  subject_id: 'anna',
  kind: 'inference',
  status,
  phase: 'generating',
  adapter_version: 'base',
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 },
  billing: {
    reserved_microusd: 1,
    charged_microusd: 0,
    settled: false,
    pricing_version: '2026-11-01',
    compute_microusd: 0,
    storage_microusd: 0,
  },
  result: null,
  error: null,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-20T10:00:00.000Z',
});

describe('client', () => {
  let server: Server;
  let seen: SeenRequest[];
  afterEach(() => server.close());

  /** Answers the n-th request with the n-th reply, and all later ones with the last. */
  async function serve(...replies: ((response: ServerResponse) => void)[]): Promise<EngraftClient> {
    seen = [];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ method: request.method, path: request.url, headers: request.headers, body });
        (replies[seen.length - 1] ?? replies.at(-1)!)(response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new EngraftClient({ baseUrl: `http://127.0.0.1:${port}/`, apiKey: 'secret' });
  }

  const reply =
    (status: number, body: unknown, headers: Record<string, string> = {}) =>
    (response: ServerResponse): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
  const hangUp = (response: ServerResponse): void => {
    response.socket?.destroy();
  };
  const failure = (code: string, extra = {}) => ({ error: { code, retryable: false, request_id: 'req_1', ...extra } });

  it('sends the key, the tenant and an idempotency key', async () => {
    const client = await serve(reply(202, receipt));
    assert.deepEqual(await client.inferences.create(inference, { tenant: 'acme' }), receipt);
    assert.equal(seen[0]!.method, 'POST');
    assert.equal(seen[0]!.path, '/v1/inferences');
    assert.equal(seen[0]!.headers.authorization, 'Bearer secret');
    assert.equal(seen[0]!.headers['x-service-tenant'], 'acme');
    assert.deepEqual(JSON.parse(seen[0]!.body), inference);
  });

  it('never repeats a secret in its errors', () => {
    const secret = 'pa55word';
    for (const [baseUrl, apiKey] of [
      ['http://127.0.0.1:1', `${secret}\nX-Other: 1`],
      ['http://127.0.0.1:1', `${secret} `],
      ['http://127.0.0.1:1', `${secret}ł`],
      ['http://127.0.0.1:1', ''],
      [`http://user:${secret}@127.0.0.1:1`, 'key'],
      [`http://${secret}@127.0.0.1:1`, 'key'],
      [`http://user:${secret}@:x`, 'key'],
      [`user:${secret}@127.0.0.1:1`, 'key'],
    ] as const) {
      assert.throws(
        () => new EngraftClient({ baseUrl, apiKey }),
        (error: unknown) => error instanceof TypeError && !inspect(error).includes(secret),
      );
    }
  });

  it('repeats after a broken connection, 429 and 5xx, under one idempotency key', async () => {
    const client = await serve(
      hangUp,
      reply(429, failure('rate_limited'), { 'retry-after': '0' }),
      reply(503, failure('service_unavailable')),
      reply(202, receipt),
    );
    assert.deepEqual(await client.inferences.create(inference), receipt);
    assert.equal(seen.length, 4);
    assert.equal(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
  });

  it('does not repeat what was refused, and says why', async () => {
    const client = await serve(reply(422, failure('invalid_request', { param: 'messages', message: 'No messages.' })));
    await assert.rejects(client.inferences.create(inference), (error) => {
      assert.ok(error instanceof EngraftApiError);
      const { status, code, request_id, param, message } = error;
      assert.deepEqual(
        { status, code, request_id, param, message },
        { status: 422, code: 'invalid_request', request_id: 'req_1', param: 'messages', message: 'No messages.' },
      );
      return true;
    });
    assert.equal(seen.length, 1);
  });

  it('does not repeat an activation, which has no idempotency key', async () => {
    const client = await serve(reply(503, failure('service_unavailable')));
    await assert.rejects(client.adapters.activate({ version_id: 'ver_1', expected_version_id: null }));
    assert.equal(seen.length, 1);
  });

  it('makes do with the status when a proxy answers', async () => {
    const client = await serve((response) => response.writeHead(404).end('<html>'));
    await assert.rejects(client.jobs.get('job_1'), { name: 'EngraftApiError', code: 'http_404', request_id: null });
  });

  it('refuses an answer that the contract does not allow', async () => {
    const client = await serve(reply(200, { ...job('succeeded'), usage: undefined }));
    await assert.rejects(client.jobs.get('job_1'), EngraftConnectionError);
  });

  it('says that nobody answers', async () => {
    await serve(hangUp);
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const client = new EngraftClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'secret', maxRetries: 0 });
    await assert.rejects(client.subjects.list(), { name: 'EngraftConnectionError', message: /ECONNREFUSED/ });
  });

  it('waits for a job to end and reports on the way', async () => {
    const client = await serve(reply(200, job('queued')), reply(200, job('running')), reply(200, job('succeeded')));
    const statuses: string[] = [];
    const ended = await client.jobs.wait('job_1', { onUpdate: ({ status }) => statuses.push(status) });
    assert.equal(ended.status, 'succeeded');
    assert.deepEqual(statuses, ['queued', 'running', 'succeeded']);
  });

  it('stops waiting when told to', async () => {
    const client = await serve(reply(200, job('running')));
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 150);
    await assert.rejects(client.jobs.wait('job_1', { signal: controller.signal }), (error) => error === reason);
  });

  describe('chat.completions', () => {
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
      assert.equal(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
      assert.equal(seen[0]!.path, '/v1/chat/completions');
      assert.equal(seen[0]!.headers['x-service-subject'], 'anna');
      assert.equal(seen[0]!.headers['x-service-tenant'], 'acme');
    });

    it('names the job that has not succeeded, and does not repeat it', async () => {
      const where = { job_id: 'job_1', status_url: '/v1/jobs/job_1' };
      const client = await serve(reply(409, failure('job_pending', where)));
      await assert.rejects(client.chat.completions.create(chat), { code: 'job_pending', ...where, status: 409 });
      assert.equal(seen.length, 1);
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
      assert.equal(seen.length, 3);
      assert.equal(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
    });

    it('does not give a chunk twice: a stream that breaks after one is lost', async () => {
      const client = await serve(stream(data(chunks[0]), { lost: true }));
      await assert.rejects(read(client), EngraftConnectionError);
      assert.equal(seen.length, 1);
    });

    it('refuses chunks that the contract does not allow', async () => {
      for (const text of ['data: {"choices": []}\n\n', 'data: {\n\n']) {
        await assert.rejects(read(await serve(stream(text))), EngraftConnectionError);
        server.close();
      }
    });
  });

  it('reads jobs page after page', async () => {
    const { id, kind, status, phase, adapter_version, created_at } = job('queued');
    const item = { id, kind, status, phase, adapter_version, created_at };
    const client = await serve(
      reply(200, { data: [item], next_cursor: 'after/1' }),
      reply(200, { data: [], next_cursor: null }),
    );
    const pages: unknown[] = [];
    for await (const page of client.jobs.pages({ limit: 1, tenant: 'acme' })) pages.push(page);
    assert.deepEqual(pages, [
      { data: [item], next_cursor: 'after/1' },
      { data: [], next_cursor: null },
    ]);
    assert.deepEqual(
      seen.map(({ path }) => path),
      ['/v1/jobs?limit=1', '/v1/jobs?limit=1&cursor=after%2F1'],
    );
    assert.deepEqual(new Set(seen.map(({ headers }) => headers['x-service-tenant'])), new Set(['acme']));
    await client.jobs.list();
    assert.equal(seen[2]!.path, '/v1/jobs');
  });

  it('reads the catalogue', async () => {
    const pricing = {
      version: '2026-11-01',
      input_usd_per_million_tokens: 12,
      output_usd_per_million_tokens: 30,
      cached_input_usd_per_million_tokens: 2.5,
      training_usd_per_million_tokens: 36,
      storage_usd_per_gb_month: 0.3,
      internalization_fee_usd: 0,
    };
    const client = await serve(reply(200, { data: [{ id: 'model-5.3', pricing }] }));
    assert.deepEqual(await client.models.list(), { data: [{ id: 'model-5.3', pricing }] });
  });
});
