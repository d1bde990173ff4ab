import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { buildTestApp, call } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { buildOperationsApp } from './buildApp.js';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase({ maxConnections: 2 });
});
after(() => database.close());

test('metrics and the description may have an address of their own; the API then has them no more', async () => {
  const metrics = new Registry();
  const { app } = buildTestApp(database.db, { metrics, operationsApart: true });
  const readiness = () => Promise.resolve([]);
  const operations = buildOperationsApp({
    model_id: 'model-5.3',
    hasApi: true,
    readiness,
    logger: pino({ level: 'silent' }),
    metrics,
  });
  for (const path of ['/metrics', '/docs', '/docs/guide', '/openapi.json']) {
    const refused = await call(app, 'GET', path);
    assert.equal(refused.statusCode, 404, path);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'not_found');
    assert.equal((await call(operations, 'GET', path)).statusCode, 200, path);
  }
  for (const path of ['/healthz', '/readyz']) {
    assert.equal((await call(app, 'GET', path)).statusCode, 200, path);
    assert.equal((await call(operations, 'GET', path)).statusCode, 200, path);
  }
  // The other address shows the API's counts, and nothing of the API itself.
  assert.match((await call(operations, 'GET', '/metrics')).body, /engraft_http_request_duration_seconds_count/);
  assert.equal((await call(operations, 'GET', '/v1/models')).statusCode, 404);
  await Promise.all([app.close(), operations.close()]);
});
