import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { createTestProject } from '../../testing/testApp.js';
import { errorOf, signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';

let service: TestConsole;
let projectId: string;
let operator: TestBrowser;
before(async () => {
  service = await startTestConsole();
  projectId = await createTestProject(service.db);
  operator = await signUp(service, 'operator@example.com', 'owner');
});
after(() => service.stop());

const passage = {
  subject_id: 'lamp',
  content: 'The Lume Lamp was invented by Mira Voss.',
  max_cost_microusd: 2_000_000,
};
const settingsOf = (id: string): string => `/projects/${id}/settings`;

describe('projects', () => {
  it('are made by operators, with an empty balance, and renamed by owners; a name is taken once', async () => {
    const made = await operator.post('/projects', { name: 'second' });
    assert.equal(made.status, 200, made.text);
    const id = String(made.body['id']);
    assert.equal((await operator.get(`/projects/${id}/credits`)).body['available_microusd'], 0);
    const taken = await operator.post('/projects', { name: 'second' });
    assert.deepEqual([taken.status, String(errorOf(taken).message).includes('another project')], [422, true]);

    const renamed = await operator.post(settingsOf(id), { name: 'renamed' });
    assert.equal(renamed.body['name'], 'renamed', renamed.text);
    const other = await operator.post(settingsOf(projectId), { name: 'renamed' });
    assert.deepEqual([other.status, String(errorOf(other).message).includes('another project')], [422, true]);
    const events = await listAuditEvents(service.db, { project_id: id, limit: 10 });
    assert.deepEqual(
      events.map(({ action, actor, details }) => [action, actor, details]),
      [
        ['project.set', 'operator@example.com', { name: 'renamed' }],
        ['project.create', 'operator@example.com', { name: 'second' }],
      ],
    );
  });

  it('are made by nobody who owns one project alone', async () => {
    const owner = await signUp(service, 'one@example.com', 'owner', projectId);
    assert.equal((await owner.get('/session')).body['is_operator'], false);
    assert.equal((await owner.post('/projects', { name: 'third' })).status, 403);
    assert.equal((await operator.get('/session')).body['is_operator'], true);
  });

  it('have no name that could not be typed as a command’s argument', async () => {
    for (const name of ['', ' a', 'a ', 'a\nb', 'x'.repeat(129), '\u0007'])
      assert.equal((await operator.post('/projects', { name })).status, 422, JSON.stringify(name));
  });
});

describe('settings', () => {
  it('are changed one by one, and refused outside their bounds by the name of the field', async () => {
    const first = await operator.post(settingsOf(projectId), { monthly_spending_limit_microusd: 5_000_000 });
    assert.equal(first.status, 200, first.text);
    const second = await operator.post(settingsOf(projectId), {
      requests_per_minute: 10,
      monthly_spending_limit_microusd: null,
    });
    const { settings } = second.body as { settings: Record<string, unknown> };
    assert.deepEqual(
      [
        settings['monthly_spending_limit_microusd'],
        settings['requests_per_minute'],
        settings['version_retention_days'],
      ],
      [null, 10, 30],
    );
    for (const [name, value] of [
      ['monthly_spending_limit_microusd', -1],
      ['monthly_learning_capacity_microusd', 0.5],
      ['version_retention_days', 0],
      ['requests_per_minute', null],
      ['something', 1],
    ] as const) {
      const refused = await operator.post(settingsOf(projectId), { [name]: value });
      assert.equal(refused.status, 422, name);
      assert.match(String(errorOf(refused).message), new RegExp(name));
    }
    assert.equal((await operator.post(settingsOf(projectId), {})).status, 422);
  });

  it('say how far the month has come, and bite at the limit', async () => {
    const project = await createTestProject(service.db);
    const learn = (key: string) =>
      operator.post(`/projects/${project}/internalizations`, passage, { 'idempotency-key': key });
    assert.equal((await learn('learn-0001')).status, 202);
    const month = (await operator.get(settingsOf(project))).body['this_month'];
    assert.deepEqual(month, {
      spent_microusd: 0,
      reserved_microusd: 2_000_000,
      learning_spent_microusd: 0,
      learning_reserved_microusd: 2_000_000,
    });
    await operator.post(settingsOf(project), { monthly_learning_capacity_microusd: 3_000_000 });
    assert.equal(errorOf(await learn('learn-0002')).code, 'monthly_capacity_reached');
    await operator.post(settingsOf(project), { monthly_spending_limit_microusd: 3_000_000 });
    assert.equal(errorOf(await learn('learn-0003')).code, 'spending_limit_reached');
  });

  it('are looked at by everybody in the project and changed by owners alone', async () => {
    for (const role of ['viewer', 'developer'] as const) {
      const member = await signUp(service, `${role}@example.com`, role, projectId);
      assert.equal((await member.get(settingsOf(projectId))).status, 200);
      const refused = await member.post(settingsOf(projectId), { requests_per_minute: 1 });
      assert.deepEqual([refused.status, errorOf(refused).code], [403, 'insufficient_scope']);
    }
    const elsewhere = await signUp(service, 'far@example.com', 'owner', await createTestProject(service.db));
    assert.equal((await elsewhere.get(settingsOf(projectId))).status, 404);
    assert.equal((await elsewhere.post(settingsOf(projectId), { requests_per_minute: 1 })).status, 404);
  });
});
