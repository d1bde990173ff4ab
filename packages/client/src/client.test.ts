import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
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
});
