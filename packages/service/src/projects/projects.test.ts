import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readBalance } from '../ledger/accounts.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createProject } from './createProject.js';
import { findProjectByName, listProjects } from './projectQueries.js';
import { setProject } from './setProject.js';

let database: TestDatabase;
before(async () => (database = await openTestDatabase()));
after(() => database.close());

test('a project begins with the default settings and an empty balance', async () => {
  const outcome = await createProject(database.db, { name: 'first' });
  if (outcome.kind !== 'created') assert.fail(outcome.kind);
  assert.deepEqual(outcome.project.settings, {
    monthly_spending_limit_microusd: null,
    monthly_learning_capacity_microusd: null,
    version_retention_days: 30,
    requests_per_minute: 600,
  });
  assert.deepEqual(await readBalance(database.db, outcome.project.id), {
    available_microusd: 0,
    reserved_microusd: 0,
    spent_microusd: 0,
  });
});

test('a name is taken once, whoever asks at the same time', async () => {
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => createProject(database.db, { name: 'wanted' })));
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['created', 'name_taken', 'name_taken', 'name_taken']);
});

test('settings are changed one by one, and found again', async () => {
  const outcome = await createProject(database.db, { name: 'settings' });
  assert.equal(outcome.kind, 'created');
  const project = await findProjectByName(database.db, 'settings');
  assert.ok(project !== null);
  await setProject(database.db, project.id, { monthly_spending_limit_microusd: 5_000_000 });
  await setProject(database.db, project.id, { requests_per_minute: 10 });
  const found = await findProjectByName(database.db, 'settings');
  assert.deepEqual(found?.settings, {
    ...project.settings,
    monthly_spending_limit_microusd: 5_000_000,
    requests_per_minute: 10,
  });
  assert.deepEqual((await listProjects(database.db)).at(-1), found);
  assert.equal(await findProjectByName(database.db, 'nobody'), null);
  assert.deepEqual(await setProject(database.db, 'prj_none', { requests_per_minute: 1 }), { kind: 'not_found' });
});
