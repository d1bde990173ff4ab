import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { openDatabase } from '../db/database.js';
import { isDatabaseReachable } from '../db/isDatabaseReachable.js';
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
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
  key = await createTestKey(database.db, await createTestProject(database.db));
});
after(async () => {
  await service.app.close();
  await database.close();
});

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'a message that no log may show' }] };

describe('health', () => {
  test('"`GET /healthz` answers 200 while the process lives", without a key', async () => {
    assert.equal((await call(service.app, 'GET', '/healthz')).statusCode, 200);
  });

  test('"`GET /readyz` 200 only when database, model and engine can take work, else 503 with what is missing"', async () => {
    assert.equal((await call(service.app, 'GET', '/readyz')).statusCode, 200);
    const { app } = buildTestApp(database.db, { readiness: () => Promise.resolve(['model', 'engine']) });
    const response = await call(app, 'GET', '/readyz');
    assert.equal(response.statusCode, 503);
    assert.deepEqual(response.json(), { status: 'unavailable', missing: ['model', 'engine'] });
    await app.close();
  });

  test('"`GET /metrics` is Prometheus text", by route and not by URL', async () => {
    await call(service.app, 'GET', '/v1/jobs/job_secret', { key });
    const response = await call(service.app, 'GET', '/metrics');
    assert.match(String(response.headers['content-type']), /^text\/plain/);
    assert.match(
      response.body,
      /engraft_http_request_duration_seconds_count\{method="GET",route="\/v1\/jobs\/:id",status="404"\} 1/,
    );
    assert.doesNotMatch(response.body, /job_secret/);
  });
});

describe('the log', () => {
  test('"structured JSON lines; never a secret, a passage or a message text"', async () => {
    const { app, log } = buildTestApp(database.db);
    const headers = { 'idempotency-key': 'the-logged-key' };
    await call(app, 'POST', '/v1/inferences', { key, headers, body: inference });
    await call(app, 'POST', '/v1/inferences', { key, headers, body: `{"a message that no log may show` });
    await call(app, 'GET', `/v1/jobs/x?api_key=${key.secret}`, { key });
    await app.close();
    const lines = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.map(({ method, route, status, error_code, project_id }) => [method, route, status, error_code, project_id]),
      [
        ['POST', '/v1/inferences', 202, undefined, key.project_id],
        ['POST', '/v1/inferences', 422, 'invalid_request', key.project_id],
        ['GET', '/v1/jobs/:id', 422, 'invalid_request', key.project_id],
      ],
    );
    for (const { request_id } of lines) assert.match(String(request_id), /^req_/);
    assert.ok(!log().includes(key.secret));
    assert.doesNotMatch(log(), /a message that no log may show/);
  });

  test('500 `internal_error`: "logged with the request id, nothing of the internals in the body"', async () => {
    const { app, log } = buildTestApp(database.db, {
      countTokens: () => {
        throw new TypeError('internals');
      },
    });
    const response = await call(app, 'POST', '/v1/inferences', {
      key,
      headers: { 'idempotency-key': 'broken-key' },
      body: inference,
    });
    await app.close();
    assert.equal(response.statusCode, 500);
    const { error } = response.json<{ error: Record<string, unknown> }>();
    assert.deepEqual([error['code'], error['retryable']], ['internal_error', false]);
    assert.doesNotMatch(response.body, /internals|TypeError/);
    const line =
      log()
        .split('\n')
        .find((each) => each.includes('TypeError')) ?? '';
    assert.match(line, /internals/);
    assert.ok(line.includes(String(error['request_id'])));
  });

  test('an error of PostgreSQL is logged without the row that it quotes', async () => {
    const { app, log } = buildTestApp(database.db, { countTokens: () => 0.5 });
    const response = await call(app, 'POST', '/v1/inferences', {
      key,
      headers: { 'idempotency-key': 'broken-row' },
      body: inference,
    });
    await app.close();
    assert.equal(response.statusCode, 500);
    assert.doesNotMatch(log(), /a message that no log may show/);
  });
});

describe('"503 `service_unavailable`: database down; shutting down"', () => {
  test('a database that nobody answers for is 503 and retryable, never 500 with internals', async () => {
    const nobody = openDatabase('postgres://127.0.0.1:1/none', { maxConnections: 2 });
    const { app } = buildTestApp(nobody, {
      readiness: async () => ((await isDatabaseReachable(nobody)) ? [] : ['database']),
    });
    for (const [method, url, body] of [
      ['POST', '/v1/inferences', inference],
      ['GET', '/v1/subjects', undefined],
      ['GET', '/v1/jobs/job_x', undefined],
    ] as const) {
      const response = await call(app, method, url, { key, body });
      assert.equal(response.statusCode, 503);
      const { error } = response.json<{ error: Record<string, unknown> }>();
      assert.deepEqual([error['code'], error['retryable']], ['service_unavailable', true]);
      assert.doesNotMatch(response.body, /ECONNREFUSED|127\.0\.0\.1/);
    }
    assert.deepEqual((await call(app, 'GET', '/readyz')).json(), { status: 'unavailable', missing: ['database'] });
    assert.equal((await call(app, 'GET', '/healthz')).statusCode, 200);
    await app.close();
    await nobody.destroy();
  });

  test('a connection that breaks in the middle of an admission: 503, and no trace', async () => {
    const own = openDatabase(database.url, { maxConnections: 1 });
    const { app } = buildTestApp(own);
    // A fault injector: the server ends the connection while the job's row is written.
    await sql`create function hang_up() returns trigger language plpgsql security definer as
      $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`.execute(database.owner);
    await sql`create trigger hang_up before insert on jobs for each row when (new.subject_name = 'cut-off')
      execute function hang_up()`.execute(database.owner);
    const headers = { 'idempotency-key': 'interrupted-key' };
    const response = await call(app, 'POST', '/v1/inferences', {
      key,
      headers,
      body: { ...inference, subject_id: 'cut-off' },
    });
    assert.equal(response.statusCode, 503);
    await app.close();
    await own.destroy();
    const jobs = await database.db.selectFrom('jobs').select('id').where('subject_name', '=', 'cut-off').execute();
    assert.deepEqual(jobs, []);
  });

  test('"409 … for chat, pending … after admission (with `job_id`, `status_url`)": also when the job cannot be read', async () => {
    const way = await openBreakableWay(database.url);
    const own = openDatabase(way.url, { maxConnections: 2 });
    const { app } = buildTestApp(own, { onAdmitted: () => way.break() });
    const body = { model: 'model-5.3', messages: inference.messages, subject_id: 'admitted-in-chat' };
    const response = await call(app, 'POST', '/v1/chat/completions', { key, body });
    await app.close();
    await own.destroy();
    const [job, ...more] = await database.db
      .selectFrom('jobs')
      .select('id')
      .where('subject_name', '=', 'admitted-in-chat')
      .execute();
    assert.ok(job !== undefined && more.length === 0);
    assert.equal(response.statusCode, 409);
    const { error } = response.json<{ error: Record<string, unknown> }>();
    assert.deepEqual(
      [error['code'], error['retryable'], error['job_id'], error['status_url']],
      ['job_pending', false, job.id, `/v1/jobs/${job.id}`],
    );
    assert.equal(response.headers['x-should-retry'], 'false');
  });

  test('a chat admission whose end is not known is not repeated by clients of themselves, but with the key it gave', async () => {
    const unreachable = (): Error => Object.assign(new Error('gone'), { code: '57P01' });
    const { app } = buildTestApp(database.db, { countTokens: () => Promise.reject(unreachable()) });
    const body = { model: 'model-5.3', messages: inference.messages };
    const first = await call(app, 'POST', '/v1/chat/completions', { key, body });
    assert.deepEqual([first.statusCode, first.headers['x-should-retry']], [503, 'false']);
    const idempotencyKey = String(first.headers['idempotency-key']);
    assert.match(idempotencyKey, /^[\w-]{36}$/);
    const headers = { 'idempotency-key': idempotencyKey };
    const second = await call(app, 'POST', '/v1/chat/completions', { key, headers, body });
    assert.deepEqual([second.statusCode, second.headers['x-should-retry']], [503, 'true']);
    await app.close();
  });

  test('a service that is closing answers what still arrives on open connections', async () => {
    const { app } = buildTestApp(database.db);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const address = app.server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const socket = connect(address.port, '127.0.0.1');
    const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${key.authorization}\r\n`;
    // A request that is still being sent keeps its connection open.
    socket.write(ask('/v1/subjects'));
    await once(app.server, 'connection');
    await delay(50);
    const closed = app.close();
    await delay(50);
    socket.write('Connection: close\r\n\r\n');
    const answer = await readText(socket);
    assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.match(answer, /"code":"service_unavailable"/);
    await closed;
  });
});

/** A way to the database, through a port of its own, that breaks at once: a fault injector. */
async function openBreakableWay(url: string): Promise<{ readonly url: string; readonly break: () => void }> {
  const { host, port, user, password, database: name } = new pg.Client({ connectionString: url });
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    for (const end of [socket, server]) sockets.add(end.on('error', () => undefined));
    socket.pipe(server).pipe(socket);
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const address = relay.address();
  assert.ok(typeof address === 'object' && address !== null);
  const login = password ? `${user}:${encodeURIComponent(password)}` : user;
  return {
    url: `postgres://${login}@127.0.0.1:${address.port}/${name}`,
    break: () => {
      relay.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
