import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { EngraftClient } from './client.js';
import { EngraftApiError, EngraftConnectionError } from './errors.js';
import { CannedServer, failure, hangUp, reply } from './testing/cannedServer.js';

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
  const server = new CannedServer();
  const serve = server.serve.bind(server);
  afterEach(() => server.close());

  it('sends the key, the tenant and an idempotency key', async () => {
    const client = await serve(reply(202, receipt));
    assert.deepEqual(await client.inferences.create(inference, { tenant: 'acme' }), receipt);
    assert.equal(server.seen[0]!.method, 'POST');
    assert.equal(server.seen[0]!.path, '/v1/inferences');
    assert.equal(server.seen[0]!.headers.authorization, 'Bearer secret');
    assert.equal(server.seen[0]!.headers['x-service-tenant'], 'acme');
    assert.deepEqual(JSON.parse(server.seen[0]!.body), inference);
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
    assert.equal(server.seen.length, 4);
    assert.equal(new Set(server.seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
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
    assert.equal(server.seen.length, 1);
  });

  it('does not repeat an activation, which has no idempotency key', async () => {
    const client = await serve(reply(503, failure('service_unavailable')));
    await assert.rejects(client.adapters.activate({ version_id: 'ver_1', expected_version_id: null }));
    assert.equal(server.seen.length, 1);
  });

  it('makes do with the status when a proxy answers', async () => {
    const client = await serve((response) => response.writeHead(404).end('<html>'));
    await assert.rejects(client.jobs.get('job_1'), { name: 'EngraftApiError', code: 'http_404', request_id: null });
  });

  it('refuses an answer that the contract does not allow', async () => {
    const client = await serve(reply(200, { ...job('succeeded'), usage: undefined }));
    await assert.rejects(client.jobs.get('job_1'), EngraftConnectionError);
  });

  it('sends nothing, and repeats nothing, with a value that no header may have', async () => {
    const client = await serve(reply(200, { data: [] }));
    await assert.rejects(client.subjects.list({ tenant: '客户' }), TypeError);
    await assert.rejects(client.subjects.list({ tenant: 'two\nlines' }), TypeError);
    assert.equal(server.seen.length, 0);
  });

  it('says that nobody answers', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
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

  it('waits on while the service is away', async () => {
    const down = reply(503, failure('service_unavailable'));
    await serve(reply(200, job('running')), hangUp, down, hangUp, reply(200, job('succeeded')));
    const client = new EngraftClient({ baseUrl: server.url, apiKey: 'secret', maxRetries: 0 });
    assert.equal((await client.jobs.wait('job_1')).status, 'succeeded');
    await serve(reply(404, failure('not_found')), reply(200, job('succeeded')));
    const other = new EngraftClient({ baseUrl: server.url, apiKey: 'secret', maxRetries: 0 });
    await assert.rejects(other.jobs.wait('job_1'), { code: 'not_found' });
  });

  it('repeats an attempt that gets no answer within its time', async () => {
    await serve(() => undefined, reply(200, { data: [] }));
    const client = new EngraftClient({ baseUrl: server.url, apiKey: 'secret', timeoutMs: 1_000 });
    assert.deepEqual(await client.subjects.list(), { data: [] });
    assert.equal(server.seen.length, 2);
  });

  it('stops waiting when told to', async () => {
    const client = await serve(reply(200, job('running')));
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 150);
    await assert.rejects(client.jobs.wait('job_1', { signal: controller.signal }), (error) => error === reason);
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
      server.seen.map(({ path }) => path),
      ['/v1/jobs?limit=1', '/v1/jobs?limit=1&cursor=after%2F1'],
    );
    assert.deepEqual(new Set(server.seen.map(({ headers }) => headers['x-service-tenant'])), new Set(['acme']));
    await client.jobs.list();
    assert.equal(server.seen[2]!.path, '/v1/jobs');
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
