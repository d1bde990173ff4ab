import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { buildTestApp, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import type { AppOptions } from './buildApp.js';
import { maxConnections } from './connections.js';

const question = JSON.stringify({
  subject_id: 'anna',
  adapter_version: 'base',
  messages: [{ role: 'user', content: 'Who?' }],
  max_output_tokens: 5,
});

describe('connections', () => {
  let database: TestDatabase;
  let key: TestKey;
  let app: FastifyInstance;
  const sockets: Socket[] = [];
  before(async () => {
    database = await openTestDatabase({ maxConnections: 8 });
    key = await createTestKey(database.db, await createTestProject(database.db));
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await app.close();
  });
  after(() => database.close());

  async function listen(options: Partial<AppOptions> = {}): Promise<void> {
    ({ app } = buildTestApp(database.db, options));
    await app.listen({ port: 0, host: '127.0.0.1' });
  }
  const portOf = (): number => (app.server.address() as AddressInfo).port;
  async function open(): Promise<Socket> {
    const socket = connect(portOf(), '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return socket;
  }
  const headOf = (line: string, ...headers: string[]): string =>
    [line, 'Host: test', `Authorization: ${key.authorization}`, ...headers, '', ''].join('\r\n');
  const post = (idempotencyKey: string): string =>
    headOf(
      'POST /v1/inferences HTTP/1.1',
      `Idempotency-Key: ${idempotencyKey}`,
      'Content-Type: application/json',
      `Content-Length: ${question.length}`,
    ) + question;
  const get = (path: string): string => headOf(`GET ${path} HTTP/1.1`);
  const isHealthy = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${portOf()}/healthz`)).ok;
  const countJobs = async (): Promise<number> => (await database.db.selectFrom('jobs').select('id').execute()).length;

  it('may break at any byte of a request, which then does nothing, or of an answer', async () => {
    await listen();
    const whole = post('dropped-at-any-byte');
    const dropAt = async (bytes: number): Promise<void> => {
      const socket = await open();
      await new Promise((sent) => socket.write(whole.slice(0, bytes), sent));
      socket.resetAndDestroy();
    };
    for (let from = 0; from < whole.length; from += 50) {
      const lengths = Array.from({ length: Math.min(50, whole.length - from) }, (_, index) => from + index);
      await Promise.all(lengths.map(dropAt));
    }
    assert.equal(await countJobs(), 0, 'half a request is none');
    const readUntil = async (bytes: number): Promise<void> => {
      const socket = await open();
      let read = 0;
      const enough = new Promise<void>((resolve) => {
        socket.on('data', (data: Buffer) => {
          read += data.length;
          if (read >= bytes) resolve();
        });
      });
      socket.write(bytes % 2 === 0 ? whole : get('/v1/models'));
      if (bytes > 0) await enough;
      socket.resetAndDestroy();
    };
    await Promise.all(Array.from({ length: 40 }, (_, index) => readUntil(index * 10)));
    assert.ok(await isHealthy());
    const socket = await open();
    socket.write(whole);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 20[02] /);
    assert.equal(await countJobs(), 1, 'repeated, it is the same job');
  });

  it('are ended where a request comes a byte at a time, or nothing ever comes', async () => {
    await listen({ requestTimeoutMs: 1_000 });
    const [slow, silent] = [await open(), await open()];
    const drip = async (): Promise<void> => {
      for (const byte of post('one-byte-at-a-time')) {
        if (slow.destroyed) return;
        slow.write(byte);
        await sleep(100);
      }
    };
    await Promise.all([drip(), once(slow.resume(), 'close'), once(silent.resume(), 'close')]);
    assert.ok(await isHealthy());
  });

  it('of many who say nothing keep nobody out who is there, and what comes beyond the limit is closed', async () => {
    await listen();
    assert.equal(app.server.maxConnections, maxConnections);
    // Ten thousand take a minute to open on a busy machine.
    app.server.maxConnections = 200;
    const talking = await open();
    const silent = await Promise.all(Array.from({ length: 199 }, open));
    talking.write(get('/v1/models'));
    assert.match(String(await once(talking, 'data')), /^HTTP\/1\.1 200 /);
    const beyond = await open();
    await once(beyond.resume(), 'close');
    for (const socket of silent) socket.destroy();
    for (let tries = 0; !(await isHealthy().catch(() => false)); tries += 1) {
      assert.ok(tries < 100);
      await sleep(20);
    }
  });

  it('that were accepted are answered when the service stops under load, and none is reset', async () => {
    await listen();
    const port = portOf();
    const outcomes = new Map<string, number>();
    const count = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    let unanswered = 0;
    app.server.on('connection', (socket: Socket) => {
      socket.once('close', () => (unanswered += socket.bytesRead > 0 && socket.bytesWritten === 0 ? 1 : 0));
    });
    const send = (agent: Agent): Promise<string> =>
      new Promise((resolve) => {
        const headers = { authorization: key.authorization };
        const request = httpRequest({ port, host: '127.0.0.1', path: '/v1/models', agent, headers }, (response) => {
          response.resume().once('end', () => resolve(String(response.statusCode)));
        });
        // A connection made while the service closes may have reached the kernel only.
        request.once('error', () => resolve(request.reusedSocket ? 'reset' : 'not accepted'));
        request.end();
      });
    const client = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let outcome = ''; outcome !== 'not accepted';) {
        outcome = await send(agent);
        count(outcome);
      }
      agent.destroy();
    };
    const clients = Array.from({ length: 30 }, client);
    while ((outcomes.get('200') ?? 0) < 100) await sleep(5);
    await app.close();
    await Promise.all(clients);
    const foreseen = ['200', '503', 'not accepted'];
    assert.deepEqual(
      [...outcomes.keys()].filter((outcome) => !foreseen.includes(outcome)),
      [],
    );
    assert.equal(unanswered, 0);
  });
});
