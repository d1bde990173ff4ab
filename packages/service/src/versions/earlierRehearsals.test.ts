import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { activateInNamespace } from './activateInNamespace.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import { readEarlierRehearsals } from './earlierRehearsals.js';

describe('what the ancestors of a version were taught with', () => {
  let database: TestDatabase;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
  });
  after(() => database.close());

  /** On top of the subject's active version, and active itself; returns its id. */
  async function learn(question: string, subjectId = 'anna'): Promise<string> {
    const { id } = await createTestVersion(database.db, key, { subject_id: subjectId });
    const rehearsal = JSON.stringify({ training_pairs: [{ question, answer: 'yes' }], validation_pairs: [] });
    await database.db.updateTable('versions').set({ rehearsal }).where('id', '=', id).execute();
    return id;
  }

  async function questionsBefore(versionId: string | null): Promise<(string | undefined)[]> {
    const earlier = await readEarlierRehearsals(database.db, versionId);
    return earlier.map(({ training_pairs }) => training_pairs[0]?.question);
  }

  test('comes oldest first, its own last, and without what was learned beside it or after it', async () => {
    const first = await learn('first');
    const second = await learn('second');
    const third = await learn('third');
    await learn('of another subject', 'berta');
    const { project_id } = key;
    const back = { project_id, tenant_id: null, version_id: first, expected_version_id: third };
    assert.equal((await activateInNamespace(database.db, back)).kind, 'activated');
    const beside = await learn('beside the second');
    assert.deepEqual(await questionsBefore(third), ['first', 'second', 'third']);
    assert.deepEqual(await questionsBefore(beside), ['first', 'beside the second']);
    assert.deepEqual(await questionsBefore(first), ['first']);
    assert.deepEqual(await questionsBefore(null), []);
    await expireTestVersion(database.db, second);
    assert.deepEqual(await questionsBefore(third), ['first', 'second', 'third'], 'only files expire');
  });
});
