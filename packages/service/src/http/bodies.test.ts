import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorEnvelope } from '@engraft/contract';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';

let database: TestDatabase;
let service: TestApp;
let key: TestKey;
let port: number;
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
  key = await createTestKey(database.db, await createTestProject(database.db));
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const address = service.app.server.address();
  assert.ok(typeof address === 'object' && address !== null);
  ({ port } = address);
});
after(async () => {
  await service.app.close();
  await database.close();
});

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };

let usedKeys = 0;

function headers(extra: Record<string, string> = {}): Record<string, string> {
  usedKeys += 1;
  return {
    authorization: key.authorization,
    'content-type': 'application/json',
    'idempotency-key': `bodies-${usedKeys}-key`,
    ...extra,
  };
}

interface Answer {
  readonly status: number | undefined;
  readonly code: string | undefined;
}

/** A body of these pieces over a real connection, chunked unless a Content-Length is given. */
async function send(pieces: readonly (string | Buffer)[], extra: Record<string, string> = {}): Promise<Answer> {
  const outgoing = httpRequest({ port, method: 'POST', path: '/v1/inferences', headers: headers(extra) });
  const abort = new AbortController();
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject);
  }).finally(() => abort.abort());
  for (const piece of pieces) {
    if (abort.signal.aborted) break;
    // The answer may come first, and then nobody asks for more.
    if (!outgoing.write(piece)) await once(outgoing, 'drain', { signal: abort.signal }).catch(() => undefined);
  }
  if (!abort.signal.aborted) outgoing.end();
  const incoming = await response;
  const body = JSON.parse(await readText(incoming)) as Partial<ErrorEnvelope>;
  outgoing.destroy();
  return { status: incoming.statusCode, code: body.error?.code };
}

/** The inference as JSON, with spaces behind it up to this many bytes. */
function padded(bytes: number): string {
  return JSON.stringify(inference).padEnd(bytes, ' ');
}

const admitted = { status: 202, code: undefined };
const tooLarge = { status: 413, code: 'payload_too_large' };

describe('"413: request body exceeds 100,000 bytes"', () => {
  test('100,000 bytes are taken, with Content-Length and chunked', async () => {
    assert.deepEqual(await send([padded(100_000)], { 'content-length': '100000' }), admitted);
    assert.deepEqual(await send([padded(100_000)]), admitted);
    assert.deepEqual(await send(Array.from(padded(2_000))), admitted);
  });

  test('100,001 bytes are refused, with Content-Length and chunked', async () => {
    assert.deepEqual(await send([padded(100_001)], { 'content-length': '100001' }), tooLarge);
    assert.deepEqual(await send([padded(100_001)]), tooLarge);
  });

  test('bytes count, not characters', async () => {
    const content = '€'.repeat(12_000);
    const body = JSON.stringify({ ...inference, messages: [0, 1, 2].map(() => ({ role: 'user', content })) });
    assert.ok(body.length < 64_000 && Buffer.byteLength(body) > 100_000);
    assert.deepEqual(await send([body]), tooLarge);
  });

  test('"counted while reading": the answer comes while a body without end is still being sent, and the client can read it', async () => {
    const piece = Buffer.alloc(64 * 1024, ' ');
    assert.deepEqual(await send(Array.from({ length: 200 }, () => piece)), tooLarge);
    const announced = { 'content-length': String(200 * piece.length) };
    assert.deepEqual(
      await send(
        Array.from({ length: 200 }, () => piece),
        announced,
      ),
      tooLarge,
    );
  });

  test('"whatever Content-Length says"', async () => {
    const lying = { 'content-length': '5', 'idempotency-key': 'lying-length' };
    const response = await call(service.app, 'POST', '/v1/inferences', { key, headers: lying, body: padded(100_001) });
    assert.equal(response.statusCode, 413);
  });

  test('the connection serves the next request after a refusal', async () => {
    const oversized = padded(100_001);
    const lines = [
      'POST /v1/inferences HTTP/1.1',
      'Host: localhost',
      `Authorization: ${key.authorization}`,
      `Content-Length: ${oversized.length}`,
    ];
    const next = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const answer = await exchange(`${lines.join('\r\n')}\r\n\r\n${oversized}${next}`);
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});

describe('"422 `invalid_request`: anything malformed"', () => {
  async function assertMalformed(body: string | Buffer, extra: Record<string, string> = {}): Promise<void> {
    assert.deepEqual(await send([body], extra), { status: 422, code: 'invalid_request' });
  }

  test('JSON syntax', async () => {
    for (const body of ['{', '{"a":1,}', "{'a':1}", '{} {}', 'NaN', '\u0000', '[1]', 'null', '"text"', '7']) {
      await assertMalformed(body);
    }
  });

  test('JSON that nests deeper than any stack', async () => {
    await assertMalformed('['.repeat(100_000));
    await assertMalformed('['.repeat(50_000) + ']'.repeat(50_000));
    await assertMalformed(`{"subject_id":${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}}`);
    const parameters = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
    await assertMalformed(`${JSON.stringify(inference).slice(0, -1)},"tools":${tools}}`);
  });

  test('an empty body, and none at all', async () => {
    await assertMalformed('');
    const response = await call(service.app, 'POST', '/v1/inferences', { key, headers: headers() });
    assert.equal(response.statusCode, 422);
  });

  test('bytes that are not UTF-8; a byte order mark is passed over', async () => {
    await assertMalformed(Buffer.from(JSON.stringify(inference).replace('question', 'qu\u00e9'), 'latin1'));
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(inference))]);
    assert.deepEqual(await send([marked]), admitted);
  });

  test('"JSON bodies use `Content-Type: application/json`": any other, and none', async () => {
    const body = JSON.stringify(inference);
    for (const type of [
      'text/plain',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      'nonsense',
      '',
      'application/json; charset=utf-16',
    ]) {
      await assertMalformed(body, { 'content-type': type });
    }
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json;']) {
      assert.deepEqual(await send([body], { 'content-type': type }), admitted);
    }
    for (const type of [undefined, '', ' ', 'nonsense', '/', 'text/plain']) {
      const extra = { 'idempotency-key': 'no-content-type', 'content-type': type };
      const response = await call(service.app, 'POST', '/v1/inferences', { key, body, headers: extra });
      const { code, param, message } = response.json<ErrorEnvelope>().error;
      assert.deepEqual([response.statusCode, code, param], [422, 'invalid_request', 'Content-Type']);
      assert.equal(message, 'Invalid Content-Type: the body must be sent as application/json, in UTF-8.');
    }
  });

  test('a body that is said to be compressed', async () => {
    const body = JSON.stringify(inference);
    for (const encoding of ['gzip', 'br, gzip', 'identity, gzip']) {
      await assertMalformed(body, { 'content-encoding': encoding });
    }
    assert.deepEqual(await send([body], { 'content-encoding': 'identity' }), admitted);
  });

  test('what is not HTTP at all', async () => {
    const answer = await exchange('nonsense\r\n\r\n');
    assert.match(answer, /^HTTP\/1\.1 422 /);
    assert.match(answer, /X-Request-Id: req_[\w-]{24}\r\n/);
    assert.match(answer, /"code":"invalid_request"/);
    const endless = await exchange(`GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`);
    assert.match(endless, /^HTTP\/1\.1 422 /);
  });

  test('two keys in one request are nobody’s', async () => {
    const one = `Authorization: Bearer ${key.secret}`;
    for (const [lines, status] of [
      [[one], 200],
      [[one, 'Authorization: Bearer nothing'], 401],
      [['authorization: Bearer nothing', one], 401],
      [[one, one], 401],
    ] as const) {
      const answer = await exchange(
        ['GET /v1/jobs HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n'),
      );
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    }
  });

  test('HTTP without a host, and a request for a tunnel', async () => {
    for (const request of ['GET /healthz HTTP/1.1', 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1']) {
      const answer = await exchange(`${request}\r\nConnection: close\r\n\r\n`);
      assert.match(answer, /^HTTP\/1\.1 422 /, request);
      assert.match(answer, /X-Request-Id: req_[\w-]{24}\r\n/i, request);
      assert.match(answer, /"code":"invalid_request"/, request);
    }
  });

  test('what is no HTTP behind a whole request does not take its answer away', async () => {
    const body = JSON.stringify(inference);
    const head = [
      'POST /v1/inferences HTTP/1.1',
      'Host: localhost',
      ...Object.entries(headers()).map(([name, value]) => `${name}: ${value}`),
      // One too few: the closing brace is sent once more behind it.
      `Content-Length: ${body.length}`,
    ];
    const answer = await exchange(`${head.join('\r\n')}\r\n\r\n${body}}`);
    assert.match(answer, /^HTTP\/1\.1 202 /);
    assert.match(answer, /"id":"job_/);
    assert.doesNotMatch(answer, /422/);
  });

  test('a header is seen behind however many others', async () => {
    const others = Array.from({ length: 2_100 }, (_, index) => `${index}:\r\n`).join('');
    const head = `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
    const answer = await exchange(`${head}${others}Origin: https://example.com\r\n\r\n`);
    assert.match(answer, /"code":"server_keys_only"/);
  });
});

test('an expectation that nobody knows is passed over', async () => {
  const taken = await send([JSON.stringify(inference)], { expect: 'a-miracle' });
  assert.deepEqual(taken, { status: 202, code: undefined });
  assert.deepEqual(await send(['{'], { expect: 'a-miracle' }), { status: 422, code: 'invalid_request' });
});

test('a client that goes away in the middle of a body disturbs nobody', async () => {
  const socket = connect({ port, host: '127.0.0.1' });
  const head = [
    'POST /v1/inferences HTTP/1.1',
    'Host: localhost',
    `Authorization: ${key.authorization}`,
    'Content-Length: 500',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{"subject_id"`);
  await delay(100);
  socket.destroy();
  await delay(100);
  assert.deepEqual(await send([padded(1_000)]), admitted);
  assert.doesNotMatch(service.log(), /internal_error/);
});

/** Everything that the server says on one raw connection, until it closes it. */
async function exchange(sent: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(sent);
  return readText(socket);
}
