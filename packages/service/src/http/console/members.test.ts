import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestProject } from '../../testing/testApp.js';
import {
  signUp,
  startTestConsole,
  TestBrowser,
  testPassword,
  type Answer,
  type TestConsole,
} from '../../testing/testConsole.js';

let service: TestConsole;
let projectId: string;
let owner: TestBrowser;
before(async () => {
  service = await startTestConsole();
  projectId = await createTestProject(service.db);
  owner = await signUp(service, 'owner@example.com', 'owner', projectId);
});
after(() => service.stop());

interface Listed {
  readonly members: readonly { readonly id: string; readonly email: string; readonly role: string }[];
  readonly invitations: readonly { readonly id: string; readonly role: string }[];
}

async function list(browser: TestBrowser = owner): Promise<Listed> {
  const { status, body, text } = await browser.get(`/projects/${projectId}/members`);
  assert.equal(status, 200, text);
  return body as unknown as Listed;
}

async function invite(role: string): Promise<string> {
  const made = await owner.post(`/projects/${projectId}/invitations`, { role });
  assert.equal(made.status, 200, made.text);
  return String(made.body['token']);
}

async function idOf(email: string): Promise<string> {
  const member = (await list()).members.find((each) => each.email === email);
  assert.ok(member !== undefined, email);
  return member.id;
}

const memberPath = async (email: string): Promise<string> => `/projects/${projectId}/members/${await idOf(email)}`;
const remove = (browser: TestBrowser, path: string): Promise<Answer> => browser.send('DELETE', `/console/api${path}`);

describe('an invitation', () => {
  it('makes a member of one project with its role, once, and is listed without its secret until then', async () => {
    const token = await invite('developer');
    const listed = await owner.get(`/projects/${projectId}/members`);
    assert.ok(!listed.text.includes(token));
    assert.deepEqual(
      (await list()).invitations.map(({ role }) => role),
      ['developer'],
    );
    const browser = new TestBrowser(service.url);
    const read = await browser.post('/links/read', { token });
    assert.match(String(read.body['project']), /^project \d+$/);
    const joined = await browser.post('/links/redeem', { token, email: 'dev@example.com', password: testPassword });
    assert.equal(joined.status, 200, joined.text);
    const projects = joined.body['projects'] as { id: string; role: string }[];
    assert.deepEqual(
      projects.map(({ id, role }) => [id, role]),
      [[projectId, 'developer']],
    );
    assert.deepEqual((await list()).invitations, []);
    assert.equal((await new TestBrowser(service.url).post('/links/read', { token })).status, 404);
  });

  it('is joined with the account that somebody is signed in with', async () => {
    const other = await createTestProject(service.db);
    const guest = await signUp(service, 'guest@example.com', 'owner', other);
    const token = await invite('viewer');
    const joined = await guest.post('/links/join', { token });
    assert.equal(joined.status, 200, joined.text);
    const roles = (joined.body['projects'] as { id: string; role: string }[]).map(({ id, role }) => [id, role]);
    assert.deepEqual(
      roles.toSorted(),
      [[other, 'owner'] as [string, string], [projectId, 'viewer'] as [string, string]].toSorted(),
    );
    assert.equal((await guest.post('/links/join', { token })).status, 404, 'a second time');
    assert.equal(
      (await new TestBrowser(service.url).post('/links/join', { token: await invite('owner') })).status,
      401,
    );
  });

  it('is no way into an account that exists, and works no more once it is withdrawn', async () => {
    const token = await invite('owner');
    const stranger = new TestBrowser(service.url);
    const taken = { token, email: 'guest@example.com', password: 'another password' };
    assert.equal((await stranger.post('/links/redeem', taken)).status, 422);
    const { invitations } = await list();
    for (const { id } of invitations)
      assert.equal((await remove(owner, `/projects/${projectId}/invitations/${id}`)).status, 204);
    assert.equal((await stranger.post('/links/read', { token })).status, 404);
    assert.equal((await remove(owner, `/projects/${projectId}/invitations/${invitations[0]?.id}`)).status, 404);
  });
});

describe('a member', () => {
  it('may do what the new role allows from the next request on, and nothing once removed', async () => {
    const member = await signUp(service, 'moving@example.com', 'viewer', projectId);
    const path = await memberPath('moving@example.com');
    const key = { name: 'k', scopes: ['inference'], tenant_id: null, expires: '90d' };
    const makeKey = async (): Promise<number> => (await member.post(`/projects/${projectId}/keys`, key)).status;
    assert.equal(await makeKey(), 403);
    assert.equal((await owner.post(`${path}/role`, { role: 'developer' })).status, 204);
    assert.equal(await makeKey(), 200);
    assert.equal((await remove(owner, path)).status, 204);
    assert.equal(await makeKey(), 404);
    assert.equal((await remove(owner, path)).status, 404);
    assert.deepEqual((await member.get('/session')).body['projects'], []);
  });

  it('is managed by owners alone, and of every project by operators alone, who cannot lock themselves out', async () => {
    const operator = await signUp(service, 'operator@example.com', 'owner');
    const operatorPath = await memberPath('operator@example.com');
    assert.equal((await remove(owner, operatorPath)).status, 403);
    assert.equal((await owner.post(`${operatorPath}/role`, { role: 'viewer' })).status, 403);
    assert.equal((await remove(operator, operatorPath)).status, 403);
    const developer = await signUp(service, 'developer@example.com', 'developer', projectId);
    const ownerPath = await memberPath('owner@example.com');
    for (const answer of [
      await developer.post(`${ownerPath}/role`, { role: 'viewer' }),
      await developer.post(`/projects/${projectId}/invitations`, { role: 'owner' }),
      await remove(developer, ownerPath),
    ])
      assert.equal(answer.status, 403);
    const elsewhere = await signUp(service, 'far@example.com', 'owner', await createTestProject(service.db));
    assert.equal((await remove(elsewhere, ownerPath)).status, 404);
    assert.equal((await owner.get('/session')).status, 200);
  });
});

describe('the audit log', () => {
  it('shows everybody in the project what was changed there, and operators all of the service', async () => {
    const viewer = await signUp(service, 'reader@example.com', 'viewer', projectId);
    const log = await viewer.get(`/projects/${projectId}/audit`);
    assert.equal(log.status, 200, log.text);
    const events = log.body['events'] as { action: string; actor: string; project: string }[];
    for (const action of ['console.link', 'member.setup', 'member.join', 'member.role', 'member.remove'])
      assert.ok(
        events.some((event) => event.action === action),
        action,
      );
    assert.ok(
      events.every(({ action }) => action !== 'session.start'),
      'which belongs to no project',
    );
    assert.doesNotMatch(log.text, /"account"|token/);
    assert.equal((await viewer.get('/audit')).status, 403);
    const operator = await signUp(service, 'second@example.com', 'owner');
    const all = await operator.get('/audit');
    assert.match(all.text, /session\.start/);
    const elsewhere = await signUp(service, 'outside@example.com', 'owner', await createTestProject(service.db));
    assert.equal((await elsewhere.get(`/projects/${projectId}/audit`)).status, 404);
  });

  it('has pages that neither skip nor repeat', async () => {
    const project = await createTestProject(service.db);
    const operator = await signUp(service, 'busy@example.com', 'owner');
    for (let limit = 1; limit <= 52; limit += 1)
      await operator.post(`/projects/${project}/settings`, { requests_per_minute: limit });
    const first = await operator.get(`/projects/${project}/audit`);
    const second = await operator.get(`/projects/${project}/audit?cursor=${String(first.body['next_cursor'])}`);
    const ids = [first, second].flatMap(({ body }) => (body['events'] as { id: number }[]).map(({ id }) => id));
    assert.deepEqual([ids.length, new Set(ids).size, second.body['next_cursor']], [52, 52, null]);
  });
});
