import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { listAuditEvents } from '../../audit/listAuditEvents.js';
import { thisOperator } from '../../audit/operator.js';
import { makeLink } from '../../console/links.js';
import { createTestKey, createTestProject } from '../../testing/testApp.js';
import {
  errorOf,
  signUp,
  startTestConsole,
  testPassword,
  TestBrowser,
  type TestConsole,
} from '../../testing/testConsole.js';

let service: TestConsole;
before(async () => (service = await startTestConsole()));
after(() => service.stop());

const link = async (email: string | null, role: 'owner' | null = 'owner'): Promise<string> =>
  (await makeLink(service.db, thisOperator(), { email, role, project_id: null })).token;

describe('a link', () => {
  it('sets up an account once, signs in, and is never stored as it is', async () => {
    const projectId = await createTestProject(service.db);
    const earlier = await link(null);
    const token = await link(null);
    const browser = new TestBrowser(service.url);
    const read = await browser.post('/links/read', { token });
    assert.deepEqual([read.body['email'], read.body['resets_password'], read.body['role']], [null, false, 'owner']);
    const setUp = { token, email: 'First@Example.com', password: testPassword };
    const redeemed = await browser.post('/links/redeem', setUp);
    assert.equal(redeemed.status, 200, redeemed.text);
    assert.equal(redeemed.body['email'], 'first@example.com');
    assert.ok(redeemed.text.includes(projectId), 'an owner has every project');
    assert.equal((await browser.get('/session')).status, 200);
    assert.equal((await new TestBrowser(service.url).post('/links/redeem', setUp)).status, 404);
    assert.equal((await new TestBrowser(service.url).post('/links/read', { token })).status, 404);
    const late = { ...setUp, token: earlier, email: 'second@example.com' };
    assert.equal((await new TestBrowser(service.url).post('/links/redeem', late)).status, 404, 'there is an owner now');
    const stored = await sql`select * from console_sessions, members`.execute(service.db);
    assert.ok(!JSON.stringify(stored.rows).includes(testPassword));
  });

  it('that names nobody is no way into an account that exists, and stays usable', async () => {
    await signUp(service, 'taken@example.com', 'owner');
    const token = await link(null);
    const browser = new TestBrowser(service.url);
    const refused = await browser.post('/links/redeem', {
      token,
      email: 'taken@example.com',
      password: 'another password',
    });
    assert.equal(refused.status, 422);
    assert.equal(browser.cookie, null);
    const own = { email: 'taken@example.com', password: testPassword };
    assert.equal((await browser.post('/session', own)).status, 200, 'the password is the old one');
    assert.equal((await browser.post('/links/read', { token })).status, 200);
  });

  it('that names somebody is for nobody else; it resets the password and ends the sessions', async () => {
    const email = 'forgetful@example.com';
    const beforeReset = await signUp(service, email, 'owner');
    const token = await link(email, null);
    const browser = new TestBrowser(service.url);
    const stranger = { token, email: 'stranger@example.com', password: 'another password' };
    assert.equal((await browser.post('/links/redeem', stranger)).status, 422);
    assert.equal((await browser.post('/links/redeem', { ...stranger, email })).status, 200);
    assert.equal((await beforeReset.get('/session')).status, 401);
    assert.equal((await browser.post('/session', { email, password: testPassword })).status, 401);
  });

  it('ends after a day, and takes no short password', async () => {
    const token = await link('late@example.com');
    const browser = new TestBrowser(service.url);
    const setUp = { token, email: 'late@example.com', password: 'short' };
    assert.match(String(errorOf(await browser.post('/links/redeem', setUp)).message), /12 characters/);
    await sql`update console_links set expires_at = now()`.execute(service.owner);
    assert.equal((await browser.post('/links/redeem', { ...setUp, password: testPassword })).status, 404);
  });
});

describe('a session', () => {
  const email = 'anna@example.com';
  before(() => signUp(service, email, 'owner'));
  const signIn = async (headers: Readonly<Record<string, string | null>> = {}) => {
    const browser = new TestBrowser(service.url);
    return { browser, answer: await browser.post('/session', { email, password: testPassword }, headers) };
  };

  it('is a cookie of /console alone that no script reads and no other site sends; over TLS for TLS alone', async () => {
    const { answer } = await signIn();
    const cookie = answer.headers.get('set-cookie') ?? '';
    assert.match(cookie, /^engraft_console=[\w-]{43}; Path=\/console; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    const secure = await signIn({ origin: service.url.replace('http:', 'https:') });
    assert.match(secure.answer.headers.get('set-cookie') ?? '', /; Secure$/);
  });

  it('is a new one at each sign-in, whatever the browser brings along', async () => {
    const planted = `engraft_console=${'A'.repeat(43)}`;
    const { browser, answer } = await signIn({ cookie: planted });
    assert.equal(answer.status, 200);
    assert.notEqual(browser.cookie, planted);
    assert.equal((await browser.send('GET', '/console/api/session', { headers: { cookie: planted } })).status, 401);
    const two = { cookie: `${browser.cookie ?? ''}; ${planted}` };
    assert.equal((await browser.send('GET', '/console/api/session', { headers: two })).status, 401, 'none of several');
  });

  it('ends with a sign-out, and all of a member with a sign-out everywhere', async () => {
    const [{ browser: first }, { browser: second }, { browser: third }] = [
      await signIn(),
      await signIn(),
      await signIn(),
    ];
    const cookie = first.cookie;
    assert.equal((await first.send('DELETE', '/console/api/session')).status, 204);
    assert.equal((await first.send('GET', '/console/api/session', { headers: { cookie } })).status, 401);
    assert.equal((await second.get('/session')).status, 200);
    assert.equal((await second.send('DELETE', '/console/api/sessions')).status, 204);
    assert.equal((await third.get('/session')).status, 401);
    const actions = (await listAuditEvents(service.db, { limit: 100 })).filter(({ actor }) => actor === email);
    for (const action of ['member.setup', 'session.start', 'session.end', 'session.endall'])
      assert.ok(
        actions.some((event) => event.action === action),
        action,
      );
  });

  it('opens nothing under /v1, and an API key nothing under /console', async () => {
    const { browser } = await signIn();
    const token = (browser.cookie ?? '').replace('engraft_console=', '');
    const noOrigin = { 'x-engraft-console': null };
    for (const headers of [noOrigin, { ...noOrigin, cookie: null, authorization: `Bearer ${token}` }])
      assert.equal((await browser.send('GET', '/v1/models', { headers })).status, 401);
    const key = await createTestKey(service.db, await createTestProject(service.db));
    for (const cookie of [null, `engraft_console=${key.secret}`]) {
      const headers = { authorization: key.authorization, cookie };
      assert.equal((await browser.send('GET', '/console/api/session', { headers })).status, 401);
      const path = `/console/api/projects/${key.project_id}/keys`;
      assert.equal((await browser.send('GET', path, { headers })).status, 401);
    }
  });
});

describe('what another site may send', () => {
  it('changes nothing: without the header, without Origin, from another one', async () => {
    const browser = await signUp(service, 'target@example.com', 'owner');
    const projectId = await createTestProject(service.db);
    const body = { name: 'k', scopes: ['inference'], tenant_id: null, expires: '90d' };
    const port = new URL(service.url).port;
    for (const headers of [
      { 'x-engraft-console': null },
      { origin: null },
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: `http://127.0.0.1:${port}.evil.example` },
      { origin: 'http://127.0.0.1:1' },
      { origin: `ftp://127.0.0.1:${port}` },
    ]) {
      const answer = await browser.post(`/projects/${projectId}/keys`, body, headers);
      assert.equal(answer.status, 422, JSON.stringify(headers));
      assert.equal(answer.headers.get('access-control-allow-origin'), null);
    }
    assert.deepEqual((await browser.get(`/projects/${projectId}/keys`)).body, { data: [] });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal((await browser.post(`/projects/${projectId}/keys`, body, form)).status, 422);
    assert.equal(
      (await browser.send('GET', '/console/api/session', { headers: { 'x-engraft-console': null } })).status,
      422,
    );
  });
});

describe('guesses of a password', () => {
  it('are limited for each account, whether it exists or not', async () => {
    await signUp(service, 'guessed@example.com', 'owner');
    for (const email of ['guessed@example.com', 'nobody@example.com']) {
      const browser = new TestBrowser(service.url);
      const statuses: number[] = [];
      for (let guess = 0; guess < 11; guess += 1)
        statuses.push((await browser.post('/session', { email, password: `guess ${guess}` })).status);
      assert.deepEqual(statuses, [...Array<number>(10).fill(401), 429]);
      const answer = await browser.post('/session', { email, password: testPassword });
      assert.equal(answer.status, 429);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
  });
});
