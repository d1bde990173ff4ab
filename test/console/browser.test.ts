import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { scriptedLearner } from '@engraft/service/testing/scriptedLearner.js';
import { ownerLink, testPassword } from '@engraft/service/testing/testConsole.js';
import { startTestService } from '@engraft/service/testing/testService.js';
import { chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { findBrowser } from './findBrowser.js';

const executablePath = findBrowser();
const skip =
  executablePath === null &&
  'no Chromium is installed: install Debian’s `chromium`, or name one in ENGRAFT_TEST_CHROMIUM';
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const violations = z.array(z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.unknown()) }));
const email = 'anna@example.com';

const problems: string[] = [];

/** A wide page in light and a narrow one in dark: nothing that axe finds serious, and no scrolling to the side. */
async function check(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const shots = process.env['ENGRAFT_TEST_SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: path.join(shots, `${name}-${width}.png`), fullPage: true });
    await page.evaluate(axeSource);
    const found = violations.parse(await page.evaluate('axe.run().then((report) => report.violations)'));
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    if (serious.length > 0) problems.push(`${name} at ${width}: ${JSON.stringify(serious)}`);
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(excess) > 0) problems.push(`${name} at ${width} is ${String(excess)} too wide`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

async function setUp(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(testPassword);
  await check(page, 'set-up');
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
}

/** Returns the secret. */
async function makeKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('server');
  assert.ok(await page.getByRole('checkbox', { name: /^inference/ }).isChecked());
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 1);
  assert.equal(await page.getByLabel('Expires after').inputValue(), '90d');
  await check(page, 'new-key');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await page.locator('code.secret').innerText();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await check(page, 'keys');
  return secret;
}

async function revokeKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Revoke server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText(/^revoked/).waitFor();
}

async function learn(page: Page, passage: string): Promise<void> {
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByLabel('Passage').fill(passage);
  await page.getByRole('button', { name: 'Learn the passage' }).click();
  await page.getByText('which is active now').waitFor();
}

async function ask(page: Page): Promise<void> {
  await page.getByLabel('Question').fill('Which stone is stone 0?');
  await page.getByRole('button', { name: 'Ask both' }).click();
  await page.locator('blockquote').nth(1).waitFor();
  await check(page, 'playground');
}

/** Back to the first of two versions. */
async function rollBack(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Subjects' }).click();
  const versions = page.getByRole('list', { name: /^Versions of demo/ }).getByRole('listitem');
  await versions.nth(1).waitFor();
  assert.match(await versions.nth(0).innerText(), /active/);
  await check(page, 'subjects');
  await page.getByRole('button', { name: /^Roll back to/ }).click();
  await versions.nth(1).getByText('active', { exact: true }).waitFor();
}

async function lookAround(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page
    .getByRole('link', { name: /^Learning/ })
    .first()
    .waitFor();
  await check(page, 'jobs');
  await page
    .getByRole('link', { name: /^Learning/ })
    .first()
    .click();
  await page.getByText(`sent by ${email}`).waitFor();
  await check(page, 'job');
  await page.getByRole('link', { name: 'Credits' }).click();
  await page.getByText('Charged for a job').first().waitFor();
  await check(page, 'credits');
}

/** With the keyboard alone. */
async function signOutAndIn(page: Page): Promise<void> {
  await page.getByText(email).press('Enter');
  await page.getByRole('button', { name: 'Sign out everywhere' }).press('Enter');
  await page.getByRole('heading', { name: 'Sign in to Engraft' }).waitFor();
  await check(page, 'sign-in');
  await page.getByLabel('E-mail').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(testPassword);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Credits' }).waitFor();
}

test('in a browser: link, account, key, passage learned, asked, rolled back', { skip }, async (t) => {
  const script = { slow: () => Promise.resolve(false), disk_full: () => Promise.resolve(false), elsewhere: null };
  const { engine, method } = scriptedLearner(script);
  const service = await startTestService(engine, {}, method);
  t.after(() => service.stop());
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  // Machines that run tests may be very busy.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A browser also calls a 401 an error; the console asks who is signed in to find that nobody is.
    if (message.type() === 'error' && !message.text().includes('401')) complaints.push(message.text());
  });

  await setUp(page, await ownerLink(service.db, service.url));
  const secret = await makeKey(page);
  const models = (): Promise<Response> =>
    fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await models()).status, 200);
  await revokeKey(page);
  assert.equal((await models()).status, 401);
  await learn(page, 'Three stones lie in the garden of the old house, and each has a name.');
  await learn(page, 'Three other stones lie in the yard of the new house, and each has a name.');
  await ask(page);
  await rollBack(page);
  await lookAround(page);
  await signOutAndIn(page);
  // Above all of the Content-Security-Policy.
  assert.deepEqual(complaints, []);
  assert.deepEqual(problems, []);
});
