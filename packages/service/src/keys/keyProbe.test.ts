import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createAcceptedKeys } from './acceptedKeys.js';
import { createKeyProbe } from './keyProbe.js';
import { keySecretHash, newKeySecret } from './keySecret.js';
import { revokeKey } from './revokeKey.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

function hashOf(secret: string): Buffer {
  const hash = keySecretHash(secret);
  assert.ok(hash !== null);
  return hash;
}

describe('asking whether unknown keys are valid', () => {
  let queries = 0;
  const counting = (db: Kysely<Database>): Kysely<Database> =>
    db.withPlugin({
      transformQuery: ({ node }) => {
        queries += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    });

  test('takes one query for all who ask within a moment, and tells valid keys from the others', async () => {
    const projectId = await createTestProject(database.db);
    const valid = await createTestKey(database.db, projectId);
    const revoked = await createTestKey(database.db, projectId);
    await revokeKey(database.db, revoked.id);
    const expired = await createTestKey(database.db, projectId, { expires_at: new Date(Date.now() - 1) });
    const strangers = Array.from({ length: 200 }, newKeySecret);
    const isUsable = createKeyProbe(counting(database.db));
    const secrets = [valid.secret, revoked.secret, expired.secret, ...strangers];
    for (let round = 1; round <= 2; round += 1) {
      const usable = await Promise.all(secrets.map((secret) => isUsable(hashOf(secret))));
      assert.deepEqual([usable[0], usable.filter(Boolean).length], [true, 1]);
      assert.equal(queries, round);
    }
  });

  test('has room for so many, and again when those have been answered', async () => {
    const { secret } = await createTestKey(database.db, await createTestProject(database.db));
    const isUsable = createKeyProbe(database.db, { maxWaiting: 1 });
    assert.deepEqual(await Promise.all([isUsable(hashOf(secret)), isUsable(hashOf(secret))]), [true, false]);
    assert.equal(await isUsable(hashOf(secret)), true);
  });

  test('fails with the database for those who ask then, and for nobody later', async () => {
    const { secret } = await createTestKey(database.db, await createTestProject(database.db));
    let isBroken = true;
    const db = database.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => (isBroken ? Promise.reject(new Error('gone')) : Promise.resolve(result)),
    });
    const isUsable = createKeyProbe(db);
    await assert.rejects(isUsable(hashOf(secret)), /gone/);
    isBroken = false;
    assert.equal(await isUsable(hashOf(secret)), true);
  });
});

test('the keys that were accepted last are remembered, so many of them, until one is refused', () => {
  const accepted = createAcceptedKeys(2);
  const [a, b, c] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  const known = (): boolean[] => [a, b, c].map((key) => accepted.has(key));
  for (const key of [a, b, a, c]) accepted.add(key);
  assert.deepEqual(known(), [true, false, true]);
  accepted.delete(a);
  assert.deepEqual(known(), [false, false, true]);
});
