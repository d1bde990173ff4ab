import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { testPassword } from '@engraft/service/testing/testConsole.js';
import { email, openBrowser, setUp, skip, type ConsoleInBrowser } from './consoleBrowser.js';

/** A page of another site. To a browser `localhost` is another site than `127.0.0.1`. */
async function openOtherSite(t: TestContext, html: string): Promise<string> {
  const server = http.createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><title>Another site</title>${html}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

async function memberNames({ service }: ConsoleInBrowser): Promise<string[]> {
  return (await service.db.selectFrom('projects').select('name').execute()).map(({ name }) => name);
}

/** Sends all that a page may send without asking first, in the name of whoever is signed in. */
const forgedWrites = (url: string): string => `
  <form id=form method=post action="${url}/console/api/projects" enctype="text/plain">
    <input name='{"name": "forged", "x": "' value='"}'></form>
  <iframe name=target></iframe>
  <script>
    document.querySelector('#form').target = 'target';
    document.querySelector('#form').submit();
    const body = JSON.stringify({ name: 'forged' });
    const write = { method: 'POST', credentials: 'include', body };
    const headers = { 'content-type': 'application/json', 'x-engraft-console': '1' };
    Promise.allSettled([
      fetch('${url}/console/api/projects', { ...write, mode: 'no-cors' }),
      fetch('${url}/console/api/projects', { ...write, headers }),
      fetch('${url}/console/api/session', { credentials: 'include', headers }),
    ]).then((sent) => (document.title = 'sent ' + sent.map(({ status }) => status).join(' ')));
  </script>`;

test('in a browser: another site’s page writes and reads nothing, and frames nothing', { skip }, async (t) => {
  const console = await openBrowser(t);
  const { page, service } = console;
  await setUp(console);
  const before = await memberNames(console);
  const other = await page.context().newPage();
  await other.goto(await openOtherSite(t, forgedWrites(service.url)));
  await other.waitForFunction('document.title.startsWith("sent")');
  // An answer that it may not read counts as none; one that was sent blindly was refused.
  assert.equal(await other.title(), 'sent fulfilled rejected rejected');
  assert.deepEqual(await memberNames(console), before);
  await other.goto(await openOtherSite(t, `<iframe src="${service.url}/console"></iframe>`));
  const frame = other.frames().find((each) => each !== other.mainFrame());
  assert.ok(frame !== undefined);
  await other.waitForLoadState('networkidle');
  assert.match(frame.url(), /^chrome-error:/, 'the browser shows nothing of the console there');
  await other.close();
});

test(
  'in a browser: a session that was planted is not taken over, and no address leads elsewhere',
  { skip },
  async (t) => {
    const console = await openBrowser(t);
    const { page, service } = console;
    await setUp(console);
    const context = page.context();
    const sessionOf = async (): Promise<string | undefined> =>
      (await context.cookies(`${service.url}/console`)).find(({ name }) => name === 'engraft_console')?.value;
    await page.getByText(email).press('Enter');
    await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
    await page.getByRole('heading', { name: 'Sign in to Engraft' }).waitFor();
    const planted = 'A'.repeat(43);
    const { hostname } = new URL(service.url);
    await context.addCookies([{ name: 'engraft_console', value: planted, domain: hostname, path: '/console' }]);
    await page.goto(`${service.url}/console?redirect=https://evil.example&next=//evil.example`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(testPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    const session = await sessionOf();
    assert.ok(session !== undefined && session !== planted);
    const paths = ['?next=//evil.example', '//evil.example', '/%2f%2f.evil.example', '/p/..%2f..%2f%2f.evil.example'];
    for (const path of paths) {
      await page.goto(`${service.url}/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const links = await page.locator('a').evaluateAll((all) => all.map((link) => String(link)));
      for (const address of [page.url(), ...links]) assert.equal(new URL(address).origin, service.url, path);
    }
  },
);
