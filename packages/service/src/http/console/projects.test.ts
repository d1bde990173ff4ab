import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { memberRoles } from '@engraft/contract/console';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { mayDo } from '../../console/members.js';
import { readBalance } from '../../ledger/accounts.js';
import { createTestKey, createTestProject, type TestKey } from '../../testing/testApp.js';
import { errorOf, signUp, startTestConsole, type TestBrowser, type TestConsole } from '../../testing/testConsole.js';
import { createTestVersion } from '../../testing/testVersion.js';

let service: TestConsole;
let projectId: string;
let owner: TestBrowser;
before(async () => {
  service = await startTestConsole();
  projectId = await createTestProject(service.db);
  owner = await signUp(service, 'owner@example.com', 'owner');
});
after(() => service.stop());

const newKey = { name: 'server', scopes: ['inference'], tenant_id: null, expires: '90d' };
const passage = {
  subject_id: 'lamp',
  content: 'The Lume Lamp was invented by Mira Voss.',
  max_cost_microusd: 2_000_000,
};
const idempotency = (key: string) => ({ 'idempotency-key': key });
const secretOf = (key: string): Promise<Response> =>
  fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });

describe('keys', () => {
  it('are made with an expiry, open the API, are listed without their secret, and open nothing once revoked', async () => {
    const made = await owner.post(`/projects/${projectId}/keys`, newKey);
    assert.equal(made.status, 200, made.text);
    const { secret, key } = made.body as { secret: string; key: { id: string; expires_at: string } };
    const days = (Date.parse(key.expires_at) - Date.now()) / 86_400_000;
    assert.equal(Math.round(days), 90);
    assert.equal((await secretOf(secret)).status, 200);
    const listed = await owner.get(`/projects/${projectId}/keys`);
    assert.ok(listed.text.includes(key.id) && !listed.text.includes(secret));
    assert.equal((await owner.post(`/projects/${projectId}/keys/${key.id}/revoke`, undefined)).status, 200);
    assert.equal((await secretOf(secret)).status, 401);
    const events = await listAuditEvents(service.db, { project_id: projectId, limit: 10 });
    assert.deepEqual(
      events.filter(({ target }) => target === key.id).map(({ action, actor }) => [action, actor]),
      [
        ['key.revoke', 'owner@example.com'],
        ['key.create', 'owner@example.com'],
      ],
    );
  });

  it('have a name that fits in one line, and what is no id names none', async () => {
    for (const name of ['', '  ', 'two\nlines', 'a\u0000b', '\u001b[2J', 'x'.repeat(101)]) {
      const refused = await owner.post(`/projects/${projectId}/keys`, { ...newKey, name });
      assert.equal(refused.status, 422, JSON.stringify(name));
      assert.match(String(errorOf(refused).message), /name/);
    }
    assert.equal((await owner.post(`/projects/${projectId}/keys/%00/revoke`, undefined)).status, 404);
    assert.equal((await owner.post(`/projects/${projectId}/members/%00/role`, { role: 'viewer' })).status, 404);
  });

  it('are at most 50, which is said where it bites', async () => {
    const full = await createTestProject(service.db);
    for (let made = 0; made < 50; made += 1) await createTestKey(service.db, full);
    const refused = await owner.post(`/projects/${full}/keys`, newKey);
    assert.equal(refused.status, 422);
    assert.match(String(errorOf(refused).message), /50 keys/);
  });
});

describe('learning and asking', () => {
  it('are jobs with a reservation, admitted once for one idempotency key, in the audit log under the member', async () => {
    const project = await createTestProject(service.db);
    const path = `/projects/${project}/internalizations`;
    const first = await owner.post(path, passage, idempotency('learn-0001'));
    assert.equal(first.status, 202, first.text);
    const again = await owner.post(path, passage, idempotency('learn-0001'));
    assert.deepEqual([again.status, again.body], [200, first.body]);
    const changed = { ...passage, content: `${passage.content} It weighs 412 grams.` };
    assert.equal((await owner.post(path, changed, idempotency('learn-0001'))).status, 409);
    assert.equal((await owner.post(path, passage)).status, 422, 'without an idempotency key');
    assert.deepEqual(await readBalance(service.db, project), {
      available_microusd: 98_000_000,
      reserved_microusd: 2_000_000,
      spent_microusd: 0,
    });
    const question = { subject_id: 'lamp', question: 'Who invented the Lume Lamp?', adapter_version: 'base' };
    const asked = await owner.post(`/projects/${project}/inferences`, question, idempotency('ask-000001'));
    assert.equal(asked.status, 202, asked.text);

    const events = await listAuditEvents(service.db, { project_id: project, limit: 10 });
    const work = events.filter(({ action }) => action.startsWith('job.'));
    assert.deepEqual(
      work.map(({ action, actor, target }) => [action, actor, target]),
      [
        ['job.ask', 'owner@example.com', asked.body['id']],
        ['job.learn', 'owner@example.com', first.body['id']],
      ],
    );
    const job = await owner.get(`/projects/${project}/jobs/${String(first.body['id'])}`);
    assert.equal(job.body['submitted_by'], 'owner@example.com');
    assert.ok(!job.text.includes('Mira Voss'), 'a job never shows its passage');
    const listed = await owner.get(`/projects/${project}/jobs?kind=internalization&status=queued&subject=lamp`);
    assert.deepEqual(
      (listed.body['data'] as { id: string }[]).map(({ id }) => id),
      [first.body['id']],
    );
    const credits = await owner.get(`/projects/${project}/credits`);
    const entries = credits.body['entries'] as { kind: string; subject_id: string | null }[];
    assert.deepEqual(
      entries.map(({ kind, subject_id }) => [kind, subject_id]),
      [
        ['reserve', 'lamp'],
        ['reserve', 'lamp'],
        ['grant', null],
      ],
    );
  });

  it('are refused without money, and then leave no trace', async () => {
    const poor = await createTestProject(service.db, 0);
    const refused = await owner.post(`/projects/${poor}/internalizations`, passage, idempotency('learn-0002'));
    assert.deepEqual([refused.status, errorOf(refused).code], [402, 'insufficient_credits']);
    const events = await listAuditEvents(service.db, { project_id: poor, limit: 10 });
    assert.ok(!events.some(({ action }) => action.startsWith('job.')));
    assert.deepEqual((await owner.get(`/projects/${poor}/keys`)).body, { data: [] });
  });

  it('are listed in pages that neither skip nor repeat', async () => {
    const project = await createTestProject(service.db);
    for (let asked = 0; asked < 52; asked += 1)
      await owner.post(
        `/projects/${project}/inferences`,
        { subject_id: 'lamp', question: 'Who?' },
        idempotency(`ask-page-${asked}`),
      );
    const first = await owner.get(`/projects/${project}/jobs`);
    const second = await owner.get(`/projects/${project}/jobs?cursor=${String(first.body['next_cursor'])}`);
    const ids = [first, second].flatMap(({ body }) => (body['data'] as { id: string }[]).map(({ id }) => id));
    assert.deepEqual([ids.length, new Set(ids).size, second.body['next_cursor']], [52, 52, null]);
  });
});

describe('activation', () => {
  it('is a compare-and-set as over the API', async () => {
    const key = await createTestKey(service.db, await createTestProject(service.db));
    const first = await createTestVersion(service.db, key);
    const second = await createTestVersion(service.db, key, { activate: false });
    const path = `/projects/${key.project_id}/activations`;
    const activate = (expectedVersionId: string | null) =>
      owner.post(path, { version_id: second.id, expected_version_id: expectedVersionId });
    assert.deepEqual((await activate(null)).status, 409);
    const activated = await activate(first.id);
    assert.deepEqual(activated.body, { version_id: second.id, revision: 2 });
    assert.equal(errorOf(await activate(first.id)).code, 'activation_conflict');
    const subjects = await owner.get(`/projects/${key.project_id}/subjects`);
    assert.ok(subjects.text.includes(`"active_version":"${second.id}"`));
  });
});

describe('roles', () => {
  let key: TestKey;
  let versionId: string;
  before(async () => {
    key = await createTestKey(service.db, projectId);
    versionId = (await createTestVersion(service.db, key)).id;
  });

  const writes = (project: string): (readonly [string, unknown])[] => [
    [`/projects/${project}/keys`, newKey],
    [`/projects/${project}/keys/${key.id}/revoke`, undefined],
    [`/projects/${project}/activations`, { version_id: versionId, expected_version_id: versionId }],
    [`/projects/${project}/internalizations`, passage],
    [`/projects/${project}/inferences`, { subject_id: 'lamp', question: 'Who?' }],
  ];
  const reads = (project: string): string[] =>
    ['keys', 'jobs', 'subjects', 'credits'].map((page) => `/projects/${project}/${page}`);

  it('let a viewer look at everything and write nothing', async () => {
    const viewer = await signUp(service, 'viewer@example.com', 'viewer', projectId);
    for (const path of reads(projectId)) assert.equal((await viewer.get(path)).status, 200, path);
    for (const [path, body] of writes(projectId)) {
      const refused = await viewer.post(path, body, idempotency('viewer-0001'));
      assert.deepEqual([refused.status, errorOf(refused).code], [403, 'insufficient_scope'], path);
    }
  });

  it('of one project are none in another: nothing of it is there, by its path or by its ids', async () => {
    const elsewhere = await createTestProject(service.db);
    const member = await signUp(service, 'elsewhere@example.com', 'owner', elsewhere);
    assert.deepEqual((await member.get('/session')).body['projects'], [
      { id: elsewhere, name: (await nameOf(elsewhere)) ?? '', role: 'owner' },
    ]);
    for (const path of [...reads(projectId), ...reads('prj_none'), ...reads(`prj_${'A'.repeat(24)}`)])
      assert.equal((await member.get(path)).status, 404, path);
    for (const [path, body] of writes(projectId))
      assert.equal((await member.post(path, body, idempotency('foreign-0001'))).status, 404, path);
    const [, revoke, activate] = writes(elsewhere);
    for (const [path, body] of [revoke!, activate!]) assert.equal((await member.post(path, body)).status, 404, path);
    const jobs = await owner.get(`/projects/${projectId}/jobs`);
    const [job] = jobs.body['data'] as { id: string }[];
    assert.equal((await member.get(`/projects/${elsewhere}/jobs/${job!.id}`)).status, 404);
    assert.equal((await secretOf(key.secret)).status, 200, 'the key was not revoked');
  });

  it('each allow what the one below them does', () => {
    for (const action of ['look', 'learn', 'ask', 'activate', 'manage_keys'] as const) {
      const allowed = memberRoles.map((role) => mayDo(role, action));
      assert.deepEqual(allowed, [...allowed].sort(), action);
      assert.ok(allowed.at(-1), 'an owner may do everything');
    }
  });

  async function nameOf(id: string): Promise<string | undefined> {
    const row = await service.db.selectFrom('projects').select('name').where('id', '=', id).executeTakeFirst();
    return row?.name;
  }
});

describe('the pages', () => {
  it('run their own scripts alone, in no frame, and lead nowhere else', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/jobs',
      '/console?next=//evil.example',
      '/console//evil.example',
    ]) {
      const answer = await owner.send('GET', path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.headers.get('location'), null);
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.doesNotMatch(answer.text, /<script(?![^>]*\bsrc="\/console\/assets\/)/);
      assert.doesNotMatch(answer.text, /\bon\w+=|<style|style=|https?:\/\//);
    }
  });

  it('have no file outside their folder, and no page for what the interface does not have', async () => {
    for (const path of ['/console/assets/none.js', '/console/api/none', '/console/assets/..%2f..%2fpackage.json']) {
      const answer = await owner.send('GET', path);
      assert.equal(answer.status, 404, path);
      assert.match(answer.headers.get('content-type') ?? '', /json/);
    }
    const escaped = await owner.send('GET', '/console/..%2f..%2f..%2fpackage.json');
    assert.doesNotMatch(escaped.text, /engraft-monorepo/);
  });

  it('get names with markup in them as JSON that no browser takes for a page', async () => {
    const name = '<script>alert(1)</script>';
    await owner.post(`/projects/${projectId}/keys`, { ...newKey, name });
    const answer = await owner.get(`/projects/${projectId}/keys`);
    assert.ok(answer.text.includes(name));
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });
});
