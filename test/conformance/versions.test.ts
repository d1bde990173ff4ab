import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { subjectList, type ActivationResult, type Job, type Receipt, type Subject } from '@engraft/contract';
import { createTestVersion, expireTestVersion } from '@engraft/service/testing/testVersion.js';
import { openConformanceService, type ConformanceService } from './service.js';

let service: ConformanceService;
before(async () => (service = await openConformanceService()));
after(() => service.close());

let used = 0;
const subject = (): string => `subject-${(used += 1)}`;

function learn(subjectId: string, activate = true) {
  return createTestVersion(service.database.db, service.key, { subject_id: subjectId, activate });
}

async function read(subjectId: string): Promise<Subject> {
  const { data } = subjectList.parse((await service.call('GET', '/v1/subjects')).json());
  const found = data.find(({ id }) => id === subjectId);
  assert.ok(found !== undefined);
  return found;
}

function activate(versionId: string, expectedVersionId: string | null) {
  return service.call('POST', '/v1/adapters/activate', {
    body: { version_id: versionId, expected_version_id: expectedVersionId },
  });
}

function ask(subjectId: string, adapterVersion?: string) {
  return service.call('POST', '/v1/inferences', {
    headers: { 'idempotency-key': `version-rule-${(used += 1)}` },
    body: { subject_id: subjectId, messages: [{ role: 'user', content: 'question' }], adapter_version: adapterVersion },
  });
}

async function versionOf(receipt: Receipt): Promise<string> {
  return (await service.call('GET', receipt.status_url)).json<Job>().adapter_version;
}

const balance = async (): Promise<unknown> =>
  service.database.db.selectFrom('accounts').select(['id', 'balance_microusd']).orderBy('id').execute();

describe('subjects and their versions', () => {
  test('"`active_version`: active version ID; `null` means the subject uses base"; "`revision` starts at 0."', async () => {
    const name = subject();
    await ask(name);
    assert.deepEqual(await read(name), { tenant_id: null, id: name, active_version: null, revision: 0, versions: [] });
  });

  test('"`revision`: increments when activation changes the route; not a count of candidates"; "`revision` on a subject counts route changes"', async () => {
    const name = subject();
    const first = await learn(name, false);
    await learn(name, false);
    assert.equal((await read(name)).revision, 0);
    assert.equal((await activate(first.id, null)).json<ActivationResult>().revision, 1);
    const { revision, versions } = await read(name);
    assert.deepEqual([revision, versions.length], [1, 2]);
  });

  test('"Version element: `id`, `created_at`, `expires_at`, `validation.passed` (integer count, not boolean), `validation.total` (integer), `source_job`"', async () => {
    const name = subject();
    const { id, job_id } = await learn(name);
    const [version] = (await read(name)).versions;
    assert.ok(version !== undefined);
    assert.deepEqual(Object.keys(version).sort(), ['created_at', 'expires_at', 'id', 'source_job', 'validation']);
    assert.deepEqual([version.id, version.source_job, version.validation], [id, job_id, { passed: 7, total: 8 }]);
    assert.equal(Date.parse(version.expires_at) - Date.parse(version.created_at), 24 * 3_600_000);
  });

  test('"A saved version can be inactive (activation disabled, lost a race, or another version activated later)."', async () => {
    const name = subject();
    const first = await learn(name);
    const second = await learn(name);
    const third = await learn(name, false);
    const { active_version, versions } = await read(name);
    assert.equal(active_version, second.id);
    assert.deepEqual(
      versions.map(({ id }) => id),
      [third.id, second.id, first.id],
    );
  });

  test('"Version ids are opaque and unguessable." "Adapter versions are identified by opaque version IDs"', async () => {
    const ids = [await learn(subject()), await learn(subject())].map(({ id }) => id);
    for (const id of ids) assert.match(id, /^ver_[\w-]{24}$/);
    assert.notEqual(ids[0]?.slice(0, 8), ids[1]?.slice(0, 8));
  });

  test('"version expired; pinning or activating it fails with `adapter_expired`": "pinned, active or target version is past its deadline"', async () => {
    const name = subject();
    const first = await learn(name);
    const second = await learn(name);
    await expireTestVersion(service.database.db, first.id);
    const codeOf = (response: Awaited<ReturnType<typeof ask>>) =>
      response.json<{ error: { code: string } }>().error.code;
    for (const response of [await ask(name, first.id), await activate(first.id, second.id)]) {
      assert.deepEqual([response.statusCode, codeOf(response)], [409, 'adapter_expired']);
    }
    assert.equal((await ask(name)).statusCode, 202);
    await expireTestVersion(service.database.db, second.id);
    assert.deepEqual(codeOf(await ask(name)), 'adapter_expired');
  });

  test('"A retained candidate can be evaluated before activation by pinning its `adapter_version` for the same tenant and subject in inference."', async () => {
    const name = subject();
    const candidate = await learn(name, false);
    const pinned = await ask(name, candidate.id);
    assert.equal(pinned.statusCode, 202);
    assert.equal(await versionOf(pinned.json<Receipt>()), candidate.id);
    assert.equal(await versionOf((await ask(name)).json<Receipt>()), 'base');
    assert.equal((await ask(subject(), candidate.id)).statusCode, 404);
  });
});

describe('activation', () => {
  test('"Synchronous; starts no job; does not use the idempotency mechanism.", "No extra fee."', async () => {
    const name = subject();
    const version = await learn(name, false);
    const jobs = async () => service.database.db.selectFrom('jobs').select('id').execute();
    const beforeActivation = [await jobs(), await balance()];
    const headers = { 'idempotency-key': 'not-looked-at' };
    for (const expectedVersionId of [null, version.id]) {
      const body = { version_id: version.id, expected_version_id: expectedVersionId };
      assert.equal((await service.call('POST', '/v1/adapters/activate', { headers, body })).statusCode, 200);
    }
    assert.deepEqual([await jobs(), await balance()], beforeActivation);
    assert.equal((await read(name)).active_version, version.id);
  });

  test('"Rollback is done by activating a retained, non-expired older version with the current version as expected value."', async () => {
    const name = subject();
    const [older, current] = [await learn(name), await learn(name)];
    const rolledBack = await activate(older.id, current.id);
    assert.deepEqual(rolledBack.json(), { version_id: older.id, revision: 3 });
    assert.equal((await read(name)).active_version, older.id);
    assert.equal(await versionOf((await ask(name)).json<Receipt>()), older.id);
  });

  test('409 "`activation_conflict` (expected value differs from current active; routing unchanged)"', async () => {
    const name = subject();
    const [first, second] = [await learn(name), await learn(name)];
    const beforeActivation = await read(name);
    for (const expected of [null, first.id, 'base', 'ver_none']) {
      const response = await activate(first.id, expected);
      assert.equal(response.statusCode, 409);
      assert.equal(response.json<{ error: { code: string } }>().error.code, 'activation_conflict');
    }
    assert.deepEqual(await read(name), beforeActivation);
    assert.equal(beforeActivation.active_version, second.id);
  });

  test('"`version_id` (string, required; candidate in the authenticated project)"', async () => {
    for (const versionId of [undefined, null, 1, '']) {
      const body = { version_id: versionId, expected_version_id: null };
      assert.equal((await service.call('POST', '/v1/adapters/activate', { body })).statusCode, 422);
    }
    assert.equal((await activate('ver_nobody', null)).statusCode, 404);
  });
});
