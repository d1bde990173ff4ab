import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { limits } from '@engraft/contract';
import { sql } from 'kysely';
import { inTransaction } from '../db/transaction.js';
import { listSubjects } from '../subjects/listSubjects.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import { activateInNamespace } from './activateInNamespace.js';
import { activateVersion } from './activateVersion.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

async function newKey(): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db));
}

function activate(key: TestKey, versionId: string, expectedVersionId: string | null, tenantId: string | null = null) {
  return activateInNamespace(database.db, {
    project_id: key.project_id,
    tenant_id: tenantId,
    version_id: versionId,
    expected_version_id: expectedVersionId,
  });
}

function readSubject(subjectRef: string) {
  return database.db.selectFrom('subjects').selectAll().where('id', '=', subjectRef).executeTakeFirstOrThrow();
}

describe('activation', () => {
  test('"`expected_version_id` equals current active and target not expired": the target is active, and "`revision` increments"', async () => {
    const key = await newKey();
    const first = await createTestVersion(database.db, key, { activate: false });
    const second = await createTestVersion(database.db, key, { activate: false });
    assert.deepEqual(await activate(key, first.id, null), { kind: 'activated', revision: 1 });
    assert.deepEqual(await activate(key, second.id, first.id), { kind: 'activated', revision: 2 });
    // "Rollback is done by activating a retained, non-expired older version."
    assert.deepEqual(await activate(key, first.id, second.id), { kind: 'activated', revision: 3 });
    assert.equal((await readSubject(first.subject_ref)).active_version_id, first.id);
  });

  test('"`revision` increments (also when target is already active)"', async () => {
    const key = await newKey();
    const version = await createTestVersion(database.db, key);
    assert.deepEqual(await activate(key, version.id, version.id), { kind: 'activated', revision: 2 });
  });

  test('"`expected_version_id` differs from current active": unchanged', async () => {
    const key = await newKey();
    const active = await createTestVersion(database.db, key);
    const candidate = await createTestVersion(database.db, key, { activate: false });
    for (const expected of [null, candidate.id, 'base', 'nonsense']) {
      assert.deepEqual(await activate(key, candidate.id, expected), { kind: 'activation_conflict' });
    }
    const subject = await readSubject(active.subject_ref);
    assert.deepEqual([subject.active_version_id, subject.revision], [active.id, 1]);
  });

  test('"`expected_version_id: "base"` is an ordinary string that never equals the active version"', async () => {
    const key = await newKey();
    const candidate = await createTestVersion(database.db, key, { activate: false });
    assert.deepEqual(await activate(key, candidate.id, 'base'), { kind: 'activation_conflict' });
  });

  test('`adapter_expired`: "candidate expired"; a conflict is found first', async () => {
    const key = await newKey();
    const candidate = await createTestVersion(database.db, key, { activate: false });
    await expireTestVersion(database.db, candidate.id);
    assert.deepEqual(await activate(key, candidate.id, null), { kind: 'adapter_expired' });
    assert.deepEqual(await activate(key, candidate.id, 'other'), { kind: 'activation_conflict' });
  });

  test('"an expired active version stays the active one (its id is still the `expected_version_id`)"', async () => {
    const key = await newKey();
    const active = await createTestVersion(database.db, key);
    const next = await createTestVersion(database.db, key, { activate: false });
    await expireTestVersion(database.db, active.id);
    assert.equal((await readSubject(active.subject_ref)).active_version_id, active.id);
    assert.equal((await activate(key, next.id, active.id)).kind, 'activated');
  });

  test('`not_found`: "unknown or foreign-project version", or of another tenant', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const version = await createTestVersion(database.db, key, { activate: false });
    const tenants = await createTestVersion(database.db, key, { activate: false, tenant_id: 'tenant' });
    for (const outcome of [
      await activate(key, 'ver_000000000000000000000000', null),
      await activate(key, 'base', null),
      await activate(key, 'a\u0000b', null),
      await activate(other, version.id, null),
      await activate(key, version.id, null, 'tenant'),
      await activate(key, tenants.id, null),
    ]) {
      assert.deepEqual(outcome, { kind: 'not_found' });
    }
    assert.equal((await activate(key, tenants.id, null, 'tenant')).kind, 'activated');
  });

  test('of simultaneous activations that expect the same version one succeeds', async () => {
    const key = await newKey();
    const versions = [];
    for (let count = 0; count < 6; count += 1) {
      versions.push(await createTestVersion(database.db, key, { activate: false }));
    }
    const outcomes = await Promise.all(versions.map(({ id }) => activate(key, id, null)));
    assert.deepEqual(
      outcomes.filter(({ kind }) => kind === 'activated'),
      [{ kind: 'activated', revision: 1 }],
    );
    assert.equal(outcomes.filter(({ kind }) => kind === 'activation_conflict').length, 5);
  });

  test('of a version of another subject throws', async () => {
    const key = await newKey();
    const [mine, other] = [
      await createTestVersion(database.db, key, { subject_id: 'mine', activate: false }),
      await createTestVersion(database.db, key, { subject_id: 'other', activate: false }),
    ];
    const crossed = { subject_ref: mine.subject_ref, version_id: other.id, expected_version_id: null };
    await assert.rejects(
      inTransaction(database.db, null, (trx) => activateVersion(trx, crossed)),
      /is not of subject/,
    );
  });
});

describe('the listing of subjects', () => {
  const list = (key: TestKey, tenantId: string | null = null) =>
    listSubjects(database.db, { project_id: key.project_id, tenant_id: tenantId });

  test('has a subject with its versions, "newest first"', async () => {
    const key = await newKey();
    const older = await createTestVersion(database.db, key);
    const newer = await createTestVersion(database.db, key, { activate: false });
    const [subject, ...others] = await list(key);
    assert.deepEqual(others, []);
    const { versions, ...route } = subject!;
    assert.deepEqual(route, { tenant_id: null, id: 'subject', active_version: older.id, revision: 1 });
    assert.deepEqual(
      versions.map(({ id }) => id),
      [newer.id, older.id],
    );
    const [{ created_at, expires_at, ...shown }] = versions as [(typeof versions)[number]];
    assert.deepEqual(shown, { id: newer.id, validation: { passed: 7, total: 8 }, source_job: newer.job_id });
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 24 * 3_600_000);
  });

  test('"Subjects are listed most recently changed first": an activation and a new candidate are changes', async () => {
    const key = await newKey();
    const names = async () => (await list(key)).map(({ id }) => id);
    const first = await createTestVersion(database.db, key, { subject_id: 'first' });
    await createTestVersion(database.db, key, { subject_id: 'second' });
    assert.deepEqual(await names(), ['second', 'first']);
    await activate(key, first.id, first.id);
    assert.deepEqual(await names(), ['first', 'second']);
    await createTestVersion(database.db, key, { subject_id: 'second', activate: false });
    assert.deepEqual(await names(), ['second', 'first']);
  });

  test('"An expired version stays listed with its past `expires_at`"', async () => {
    const key = await newKey();
    const version = await createTestVersion(database.db, key);
    await expireTestVersion(database.db, version.id);
    const [subject] = await list(key);
    assert.equal(subject?.active_version, version.id);
    assert.ok(Date.parse(subject.versions[0]!.expires_at) <= Date.now());
  });

  test('"Knowledge from another tenant is never returned."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    await createTestVersion(database.db, key, { subject_id: 'of-project' });
    await createTestVersion(database.db, key, { subject_id: 'of-a', tenant_id: 'a' });
    await createTestVersion(database.db, key, { subject_id: 'of-b', tenant_id: 'b' });
    assert.deepEqual(
      (await list(key)).map(({ id }) => id),
      ['of-project'],
    );
    assert.deepEqual(
      (await list(key, 'a')).map(({ id, tenant_id }) => [id, tenant_id]),
      [['of-a', 'a']],
    );
    assert.deepEqual(await list(key, 'c'), []);
    assert.deepEqual(await list(other), []);
  });

  test('"up to 100 subjects and 50 versions each"', async () => {
    const key = await newKey();
    const { subject_ref } = await createTestVersion(database.db, key, { subject_id: 'crowded' });
    // Rows by the hundred, past the guard that each version has a learning job of its own.
    await inTransaction(database.owner, null, async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`
        insert into versions (id, subject_ref, source_job_id, adapter_hash, size_bytes, passed_count, total_count, rehearsal, expires_at, created_at)
        select 'ver_' || n, ${subject_ref}, 'job_' || n, 'sha256:0', 1, 1, 1, '{}', now(), now() + n * interval '1 second'
        from generate_series(1, 60) n`.execute(trx);
      await sql`
        insert into subjects (id, project_id, name, updated_at)
        select 'sub_' || n, ${key.project_id}, 'subject-' || n, now() - n * interval '1 second'
        from generate_series(1, 120) n`.execute(trx);
    });
    const subjects = await list(key);
    assert.equal(subjects.length, limits.maxSubjectsPerListing);
    assert.equal(subjects[1]?.id, 'subject-1');
    assert.equal(subjects[0]?.versions.length, limits.maxVersionsPerSubjectListing);
    assert.equal(subjects[0].versions[0]?.id, 'ver_60');
  });
});
