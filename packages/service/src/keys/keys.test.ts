import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '../ids.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { authenticate } from './authenticate.js';
import { createKey, type NewKey } from './createKey.js';
import { keySecretHash, newKeySecret } from './keySecret.js';
import { listKeys } from './listKeys.js';
import { revokeKey } from './revokeKey.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

const plain = { name: 'key', scopes: ['inference'], tenant_id: null, expires_at: null } as const;

describe('a secret', () => {
  test('has 256 random bits behind its prefix', () => {
    assert.match(newKeySecret(), /^engraft_[A-Za-z0-9_-]{43}$/);
    assert.notEqual(newKeySecret(), newKeySecret());
  });

  test('is looked up only if it is well-formed', () => {
    const secret = newKeySecret();
    assert.equal(keySecretHash(secret)?.length, 32);
    for (const malformed of ['', secret.slice(1), `${secret}x`, secret.toUpperCase(), `${secret.slice(0, -1)}\u0000`]) {
      assert.equal(keySecretHash(malformed), null);
    }
  });
});

describe('authentication', () => {
  test('"A key belongs to exactly one project. It may optionally be restricted to one tenant."', async () => {
    const projectId = await createTestProject(database.db);
    const key = await createTestKey(database.db, projectId, { scopes: ['read', 'adapters'], tenant_id: 'tenant' });
    assert.deepEqual(await authenticate(database.db, key.secret), {
      id: key.id,
      project_id: projectId,
      scopes: ['read', 'adapters'],
      tenant_id: 'tenant',
    });
  });

  test('"Invalid, expired or revoked key": nobody', async () => {
    const projectId = await createTestProject(database.db);
    const expired = await createTestKey(database.db, projectId, { expires_at: new Date(Date.now() - 1_000) });
    const revoked = await createTestKey(database.db, projectId);
    await revokeKey(database.db, revoked.id);
    for (const secret of [expired.secret, revoked.secret, newKeySecret(), 'nonsense', '']) {
      assert.equal(await authenticate(database.db, secret), null);
    }
  });

  test('`last_used_at` is written at most once a minute', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const lastUse = async () => (await listKeys(database.db, key.project_id))[0]?.last_used_at ?? null;
    assert.equal(await lastUse(), null);
    await authenticate(database.db, key.secret);
    const first = await lastUse();
    assert.ok(first instanceof Date);
    await authenticate(database.db, key.secret);
    assert.deepEqual(await lastUse(), first);
    await sql`update api_keys set last_used_at = now() - interval '2 minutes' where id = ${key.id}`.execute(
      database.db,
    );
    await authenticate(database.db, key.secret);
    assert.ok(((await lastUse()) ?? first) > first);
  });
});

describe('keys of a project', () => {
  test('"The full secret is shown only once": neither the list nor the database has it', async () => {
    const projectId = await createTestProject(database.db);
    const { secret } = await createTestKey(database.db, projectId);
    assert.ok(!JSON.stringify(await listKeys(database.db, projectId)).includes(secret));
    const { rows } = await sql`select api_keys::text from api_keys`.execute(database.db);
    assert.ok(!JSON.stringify(rows).includes(secret));
  });

  test('"At most 50 non-revoked keys exist per project (expired keys count until revoked)."', async () => {
    const projectId = await createTestProject(database.db);
    const expiresAt = new Date(Date.now() - 1_000);
    for (let count = 1; count <= 45; count += 1) await createTestKey(database.db, projectId, { expires_at: expiresAt });
    const newKey: NewKey = { ...plain, project_id: projectId };
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => createKey(database.db, newKey)));
    assert.equal(outcomes.filter(({ kind }) => kind === 'created').length, 5);
    const [oldest] = await listKeys(database.db, projectId);
    await revokeKey(database.db, oldest!.id);
    assert.equal((await createKey(database.db, newKey)).kind, 'created');
    assert.equal((await createKey(database.db, newKey)).kind, 'too_many_keys');
  });

  test('revoking keeps the key in the list, and its first time', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const first = await revokeKey(database.db, key.id);
    const second = await revokeKey(database.db, key.id);
    assert.ok(first.kind === 'revoked' && first.changed);
    assert.deepEqual(second, { ...first, changed: false });
    assert.ok((await listKeys(database.db, key.project_id))[0]?.revoked_at instanceof Date);
    for (const id of ['key_unknown', newId('key'), '\u0000']) {
      assert.equal((await revokeKey(database.db, id)).kind, 'not_found');
    }
  });

  test('need a project', async () => {
    assert.deepEqual(await createKey(database.db, { ...plain, project_id: 'none' }), { kind: 'project_not_found' });
  });
});
