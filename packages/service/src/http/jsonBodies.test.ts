import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
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
before(async () => {
  database = await openTestDatabase();
  service = buildTestApp(database.db);
  key = await createTestKey(database.db, await createTestProject(database.db));
});
after(async () => {
  await service.app.close();
  await database.close();
});

const inference = { subject_id: 'subject', messages: [{ role: 'user', content: 'question' }] };
const headers = { 'idempotency-key': 'of-a-refused-body' };

test('"A key that occurs twice in an object is refused.", and so is a number that would not be kept exactly', async () => {
  const whole = JSON.stringify(inference);
  const parameters = '{"type":"object","properties":{"id":{"maximum":9223372036854775807}}}';
  for (const [body, param, message] of [
    [whole.replace('{', '{"subject_id":"b",'), 'subject_id', /occurs twice/],
    [whole.replace('"role"', '"role":"user","role"'), 'messages[0].role', /occurs twice/],
    [
      whole.replace('{', `{"tools":[{"type":"function","function":{"name":"a","parameters":${parameters}}}],`),
      'tools[0].function.parameters.properties.id.maximum',
      /would not be kept exactly; send it as a string/,
    ],
  ] as const) {
    for (const url of ['/v1/inferences', '/v1/internalizations', '/v1/chat/completions', '/v1/adapters/activate']) {
      const response = await call(service.app, 'POST', url, { key, body, headers });
      const { error } = response.json<ErrorEnvelope>();
      assert.deepEqual([response.statusCode, error.code, error.param], [422, 'invalid_request', param]);
      assert.match(error.message, message);
    }
  }
});
