import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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

describe('paths and methods', () => {
  test('404 `not_found`: "unknown path", with or without a key', async () => {
    for (const url of [
      '/',
      '/v1',
      '/v1/',
      '/v1/nothing',
      '/v1/jobs/a/b',
      '/V1/subjects',
      '/v1/subjects/',
      '/v1/jobs/%zz',
    ]) {
      const response = await call(service.app, 'GET', url);
      assert.equal(response.statusCode, 404, url);
      assert.equal(response.json<{ error: { code: string } }>().error.code, 'not_found');
    }
  });

  test('404 `not_found`: "unknown path", whatever the method', async () => {
    for (const url of ['/docs/guide/*', '/docs/guide/nothing', '/console/api/*', '/*', '/v1/*', '/v1/nothing', '/']) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        const response = await service.app.inject({ method, url });
        assert.equal(response.statusCode, 404, `${method} ${url}`);
        assert.equal(response.headers.allow, undefined);
      }
    }
  });

  test('404 `not_found` says what there is instead', async () => {
    const messageOf = async (method: 'GET' | 'POST', url: string, withKey = key): Promise<string> => {
      const response = await call(service.app, method, url, { key: withKey });
      assert.equal(response.statusCode, 404, url);
      return response.json<ErrorEnvelope>().error.message;
    };
    for (const [method, url, message] of [
      ['GET', '/v1/models/model-5.3', 'There is one model; GET /v1/models shows it.'],
      ['GET', '/v1/models/', 'No path here ends in a slash: use /v1/models.'],
      ['GET', '/v1/jobs/', 'No path here ends in a slash: use /v1/jobs.'],
      ['GET', '/v1/jobs/job_secret/', 'No path here ends in a slash: use /v1/jobs/{id}.'],
      ['POST', '/v1/chat/completions/', 'No path here ends in a slash: use /v1/chat/completions.'],
      [
        'POST',
        '/v1/completions',
        'There are no completions of a plain prompt; POST /v1/chat/completions takes messages.',
      ],
      [
        'POST',
        '/v1/fim/completions',
        'There are no completions of a plain prompt; POST /v1/chat/completions takes messages.',
      ],
      ['POST', '/v1/responses', 'The Responses API is not offered; POST /v1/chat/completions takes messages.'],
      ['GET', '/v1/responses/resp_1', 'The Responses API is not offered; POST /v1/chat/completions takes messages.'],
      ['POST', '/v1/embeddings?x=1', 'Embeddings are not offered; POST /v1/chat/completions answers messages.'],
      ['POST', '/chat/completions', 'The paths of the API begin with /v1, once: use /v1/chat/completions.'],
      ['POST', '/v1/v1/chat/completions', 'The paths of the API begin with /v1, once: use /v1/chat/completions.'],
      ['GET', '/v1/nothing', 'There is no such path; GET /openapi.json describes those that there are.'],
      ['GET', '/', 'There is no such path; GET /openapi.json describes those that there are.'],
    ] as const) {
      assert.equal(await messageOf(method, url), message, url);
    }
    assert.equal(await messageOf('GET', '/v1/jobs/job_unknown'), 'There is nothing here under that name.');
  });

  test('405 `method_not_allowed`: "known path, other method; with `Allow`"', async () => {
    for (const [method, url, allow] of [
      ['GET', '/v1/inferences', 'POST'],
      ['DELETE', '/v1/internalizations', 'POST'],
      ['POST', '/v1/jobs/anything', 'GET, HEAD'],
      ['PUT', '/v1/subjects?x=1', 'GET, HEAD'],
      ['PATCH', '/v1/adapters/activate', 'POST'],
      ['OPTIONS', '/v1/subjects', 'GET, HEAD'],
      ['QUERY' as 'GET', '/v1/subjects', 'GET, HEAD'],
      ['TRACE' as 'GET', '/v1/models', 'GET, HEAD'],
      ['POST', '/healthz', 'GET, HEAD'],
    ] as const) {
      const response = await service.app.inject({ method, url });
      assert.equal(response.statusCode, 405, url);
      assert.equal(response.headers.allow, allow);
      assert.equal(response.json<{ error: { code: string } }>().error.code, 'method_not_allowed');
    }
  });

  test('HEAD answers as GET, without the body', async () => {
    const response = await service.app.inject({
      method: 'HEAD',
      url: '/v1/subjects',
      headers: { authorization: key.authorization },
    });
    assert.deepEqual([response.statusCode, response.body], [200, '']);
  });
});
