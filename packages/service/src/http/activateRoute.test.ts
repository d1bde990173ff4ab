import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { buildTestApp, call } from '../testing/testApp.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import { database, service, newKey, post, assertError, open, close } from '../testing/routesTest.js';

before(open);
after(close);

describe('POST /v1/adapters/activate', () => {
  test('"Response 200: `{ version_id: string, revision: integer }`", without an `Idempotency-Key`', async () => {
    const key = await newKey();
    const { id } = await createTestVersion(database.db, key, { activate: false });
    const body = { version_id: id, expected_version_id: null };
    const response = await call(service.app, 'POST', '/v1/adapters/activate', { key, body });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.json(), { version_id: id, revision: 1 });
  });

  test('"Errors: 409 `activation_conflict`, `adapter_expired`, `not_found`", also when execution is switched off', async () => {
    const key = await newKey();
    const { id } = await createTestVersion(database.db, key, { activate: false });
    const { app } = buildTestApp(database.db, { execution: 'off' });
    const activate = (versionId: string, expectedVersionId: string | null) =>
      call(app, 'POST', '/v1/adapters/activate', {
        key,
        body: { version_id: versionId, expected_version_id: expectedVersionId },
      });
    assertError(await activate(id, 'base'), 409, 'activation_conflict');
    assertError(await activate('ver_unknown', null), 404, 'not_found');
    await expireTestVersion(database.db, id);
    assertError(await activate(id, null), 409, 'adapter_expired');
    await app.close();
  });

  test('"Do not send `subject_id`"', async () => {
    const body = { version_id: 'v', expected_version_id: null, subject_id: 's' };
    assertError(await post(await newKey(), '/v1/adapters/activate', body), 422, 'invalid_request', 'subject_id');
  });
});
