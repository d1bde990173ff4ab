import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { showShippedModel } from '@engraft/service/testing/shippedModel.js';
import { testPassword } from '@engraft/service/testing/testConsole.js';
import { email, openBrowser, setUp, skip, type ConsoleInBrowser } from './consoleBrowser.js';

/** Returns the secret. */
async function makeKey({ page, check }: ConsoleInBrowser): Promise<string> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('server');
  assert.ok(await page.getByRole('checkbox', { name: /^inference/ }).isChecked());
  assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 1);
  assert.equal(await page.getByLabel('Expires after').inputValue(), '90d');
  await check('new-key');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await page.locator('code.secret').innerText();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await check('keys');
  return secret;
}

async function revokeKey({ page }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('button', { name: 'Revoke server' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText(/^revoked/).waitFor();
}

async function learn({ page }: ConsoleInBrowser, passage: string): Promise<void> {
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByLabel('Passage').fill(passage);
  await page.getByText(/^About \$\d/).waitFor();
  await page.getByRole('button', { name: 'Learn the passage' }).click();
  await page.getByText('which is active now').waitFor();
}

async function ask({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByLabel('Question').fill('Which stone is stone 0?');
  const pinned = page.getByLabel('Also a pinned version');
  await pinned.selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('blockquote').nth(2).waitFor();
  assert.deepEqual(await page.locator('blockquote').allInnerTexts(), ['Nobody knows.', 'amber', 'amber']);
  await page.getByText('Copy as code').nth(1).press('Enter');
  await page.getByLabel('Language').last().selectOption('Python');
  const code = await page.getByRole('region', { name: 'The request in Python' }).innerText();
  assert.match(code, /"content": "Which stone is stone 0\?"/);
  await check('playground');
}

/** Back to the first of two versions. */
async function rollBack({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('link', { name: 'Subjects' }).click();
  const versions = page.getByRole('list', { name: /^Versions of demo/ }).getByRole('listitem');
  await versions.nth(1).waitFor();
  assert.match(await versions.nth(0).innerText(), /active/);
  await page.getByText('Compare two versions').press('Enter');
  await page.getByLabel('Second version').selectOption('base');
  await page.getByLabel('Question').fill('Name stone 1.');
  await page.keyboard.press('Enter');
  await page.locator('blockquote').nth(1).waitFor();
  assert.deepEqual(await page.locator('blockquote').allInnerTexts(), ['basalt', 'Nobody knows.']);
  await check('subjects');
  await page.getByRole('button', { name: /^Roll back to/ }).click();
  await versions.nth(1).getByText('active', { exact: true }).waitFor();
  await page.getByLabel('Tenant').fill('two words');
  await page.getByText('No tenant has such a name.').waitFor();
  assert.equal(await versions.count(), 0, "the project's own subjects are not those of a tenant");
}

async function lookAround(console: ConsoleInBrowser): Promise<void> {
  const { page, check } = console;
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page
    .getByRole('link', { name: /^Learning/ })
    .first()
    .waitFor();
  await check('jobs');
  await page
    .getByRole('link', { name: /^Learning/ })
    .first()
    .click();
  await page.getByText(`sent by ${email}`).waitFor();
  const questions = page.getByRole('region', { name: 'Questions and answers' });
  assert.match(await questions.innerText(), /stone \d.*\n?.*(amber|basalt|cobalt)/);
  await page.getByRole('img', { name: /^Training loss by step/ }).waitFor();
  assert.match(
    await page.getByRole('region', { name: 'Cost of each kind of token' }).innerText(),
    /Training tokens.*36/s,
  );
  await check('job');
  await page.getByRole('link', { name: 'Credits' }).click();
  await page.getByText('Charged for a question').first().waitFor();
  await page.getByRole('img', { name: /^Spending by kind/ }).waitFor();
  await page.getByLabel('By', { exact: true }).selectOption('subject');
  await page.getByRole('img', { name: /^Spending by subject/ }).waitFor();
  await check('credits');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as CSV' }).press('Enter');
  const file = readFileSync(await (await download).path(), 'utf8');
  assert.match(file, /^id,created_at,kind,/);
  await grantCredit(console);
}

/** With the keyboard alone. */
async function grantCredit({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('button', { name: 'Grant credit' }).press('Enter');
  await page.getByLabel('Reason').focus();
  await page.keyboard.type('a trial');
  await check('grant');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByText(/^\$119\./).waitFor();
}

/** With the keyboard alone. */
async function signOutAndIn({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByText(email).press('Enter');
  await page.getByRole('button', { name: 'Sign out everywhere' }).press('Enter');
  await page.getByRole('heading', { name: 'Sign in to Engraft' }).waitFor();
  await check('sign-in');
  await page.getByLabel('E-mail').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(testPassword);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Credits' }).waitFor();
}

test('in a browser: link, account, key, passage learned, asked, rolled back', { skip }, async (t) => {
  const console = await openBrowser(t, showShippedModel());
  const { service } = console;
  await setUp(console);
  const secret = await makeKey(console);
  const models = (): Promise<Response> =>
    fetch(`${service.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await models()).status, 200);
  await revokeKey(console);
  assert.equal((await models()).status, 401);
  await learn(console, 'Three stones lie in the garden of the old house, and each has a name.');
  await learn(console, 'Three other stones lie in the yard of the new house, and each has a name.');
  await ask(console);
  await rollBack(console);
  await lookAround(console);
  await signOutAndIn(console);
  console.assertFine();
});
