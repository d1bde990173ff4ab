import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { ErrorEnvelope, Job } from '@engraft/contract';
import type { LightMyRequestResponse } from 'fastify';
import {
  buildTestApp,
  call,
  createTestKey,
  createTestProject,
  type TestApp,
  type TestKey,
} from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';

/** Which version a chat completion runs on. No worker runs, so that every admitted job stays to be looked at. */
describe('routing of chat completions', () => {
  let database: TestDatabase;
  let service: TestApp;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
    service = buildTestApp(database.db);
  });
  after(async () => {
    await service.app.close();
    await database.close();
  });
  beforeEach(async () => {
    key = await createTestKey(database.db, await createTestProject(database.db));
  });

  const chat = { model: 'model-5.3', messages: [{ role: 'user', content: 'question' }] };

  const post = (body: object, headers: Record<string, string | undefined> = {}, by = key) =>
    call(service.app, 'POST', '/v1/chat/completions', { key: by, body: { ...chat, ...body }, headers });

  async function admit(body: object, headers: Record<string, string | undefined> = {}): Promise<Job> {
    const response = await post(body, headers);
    assertError(response, 409, 'job_pending');
    const { status_url = '' } = response.json<ErrorEnvelope>().error;
    const read = await call(service.app, 'GET', status_url, {
      key,
      headers: { 'x-service-tenant': headers['x-service-tenant'] },
    });
    return read.json<Job>();
  }

  function assertError(response: LightMyRequestResponse, status: number, code: string, param?: string): void {
    const { error } = response.json<ErrorEnvelope>();
    assert.deepEqual([response.statusCode, error.code, error.param], [status, code, param]);
  }

  const countSubjects = async () => (await database.db.selectFrom('subjects').select('id').execute()).length;

  test('"`subject_id` or `X-Service-Subject` selects an adapted route"; both "must be equal"', async () => {
    const { id } = await createTestVersion(database.db, key, { subject_id: 'anna' });
    for (const [body, header, version] of [
      [{ subject_id: 'anna' }, undefined, id],
      [{}, 'anna', id],
      [{ subject_id: null }, 'anna', id],
      [{ subject_id: 'anna' }, 'anna', id],
      [{ subject_id: 'anna', adapter_version: 'base' }, undefined, 'base'],
      [{ subject_id: 'anna', adapter_version: id }, undefined, id],
    ] as const) {
      const { subject_id, adapter_version } = await admit(body, { 'x-service-subject': header });
      assert.deepEqual([subject_id, adapter_version], ['anna', version]);
    }
    const both = await post({ subject_id: 'anna' }, { 'x-service-subject': 'another' });
    assertError(both, 422, 'invalid_request', 'subject_id');
    assertError(await post({}, { 'x-service-subject': '_' }), 422, 'invalid_request', 'X-Service-Subject');
  });

  test('"omission selects base even if a subject named `default` has versions"', async () => {
    await createTestVersion(database.db, key, { subject_id: 'default' });
    const { subject_id, adapter_version } = await admit({});
    assert.deepEqual([subject_id, adapter_version], ['default', 'base']);
  });

  test('"Chat without a subject: the job\'s `subject_id` … read `default`, the version is `base`, and no subject is created."', async () => {
    const subjects = await countSubjects();
    const { subject_id, adapter_version } = await admit({});
    assert.deepEqual([subject_id, adapter_version], ['default', 'base']);
    assert.equal(await countSubjects(), subjects);
    await admit({ subject_id: 'berta' });
    assert.equal(await countSubjects(), subjects + 1);
  });

  test('"non-base pinning requires a subject"', async () => {
    const { id } = await createTestVersion(database.db, key);
    assertError(await post({ adapter_version: id }), 422, 'invalid_request', 'adapter_version');
    assert.equal((await admit({ adapter_version: 'base' })).adapter_version, 'base');
  });

  test('"Pinned versions must belong to the key\'s project, the selected tenant and the supplied subject."', async () => {
    const { id } = await createTestVersion(database.db, key, { subject_id: 'carla', tenant_id: 'a' });
    const pinned = { subject_id: 'carla', adapter_version: id };
    assert.equal((await admit(pinned, { 'x-service-tenant': 'a' })).adapter_version, id);
    assertError(await post(pinned), 404, 'not_found');
    assertError(await post({ ...pinned, tenant_id: 'b' }), 404, 'not_found');
    assertError(await post({ ...pinned, tenant_id: 'a', subject_id: 'dora' }), 404, 'not_found');
    const foreign = await createTestKey(database.db, await createTestProject(database.db));
    assertError(await post({ ...pinned, tenant_id: 'a' }, {}, foreign), 404, 'not_found');
  });

  test('"A missing or expired explicitly requested adapter fails without fallback."', async () => {
    const { id } = await createTestVersion(database.db, key, { subject_id: 'frida' });
    await expireTestVersion(database.db, id);
    assertError(await post({ subject_id: 'frida' }), 409, 'adapter_expired');
    assertError(await post({ subject_id: 'frida', adapter_version: id }), 409, 'adapter_expired');
    assertError(await post({ subject_id: 'frida', adapter_version: 'ver_none' }), 404, 'not_found');
  });

  test('"A tenant may be supplied as body field `tenant_id` and/or header `X-Service-Tenant`. When both are present they must match."', async () => {
    const mismatch = await post({ tenant_id: 'a' }, { 'x-service-tenant': 'b' });
    assertError(mismatch, 422, 'invalid_request', 'tenant_id');
    assert.equal((await admit({ tenant_id: 'a' }, { 'x-service-tenant': 'a' })).tenant_id, 'a');
    const restricted = await createTestKey(database.db, key.project_id, { tenant_id: 'a' });
    assertError(await post({ tenant_id: 'b' }, {}, restricted), 422, 'invalid_request', 'tenant_id');
  });
});
