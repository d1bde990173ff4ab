import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showShippedModel } from '@engraft/service/testing/shippedModel.js';
import { testPassword } from '@engraft/service/testing/testConsole.js';
import { email, openBrowser, setUp, skip, type ConsoleInBrowser } from './consoleBrowser.js';

/** With the keyboard alone: a limit is set, then a project is made and is the one that is shown. */
async function setLimits({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).press('Enter');
  const limit = page.getByRole('spinbutton', { name: 'Spending in a month, in USD' });
  await limit.focus();
  await page.keyboard.type('2.5');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'Spending in a month, in USD' });
  await form.getByText('Saved').waitFor();
  assert.match(await form.innerText(), /At the limit:.*spending_limit_reached/s);
  await check('settings');
  await page.getByRole('button', { name: 'Create another project' }).press('Enter');
  await page.getByRole('dialog').getByLabel('Name').press('Control+A');
  await page.keyboard.type('second');
  await check('new-project');
  await page.keyboard.press('Enter');
  await page.locator('header select').getByText('second').waitFor({ state: 'attached' });
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).press('Enter');
  await page.getByRole('form', { name: 'Spending in a month, in USD' }).waitFor();
  assert.equal(await limit.inputValue(), '', 'the new project has no limit');
}

/** Returns the address of the link. */
async function invite({ page, check }: ConsoleInBrowser): Promise<string> {
  await page.getByRole('link', { name: 'Members' }).press('Enter');
  await page.getByRole('button', { name: 'Invite somebody' }).press('Enter');
  await page.getByLabel('Role', { exact: true }).focus();
  await page.keyboard.type('viewer');
  await page.getByRole('button', { name: 'Make a link' }).press('Enter');
  const url = await page.locator('code.secret').innerText();
  await check('invitation');
  await page.getByRole('button', { name: 'Done' }).press('Enter');
  await page.getByRole('heading', { name: 'Invitations that nobody has used yet' }).waitFor();
  return url;
}

/** Somebody else, in a browser of their own, who may look and change nothing. */
async function joinAsViewer({ page: ownPage }: ConsoleInBrowser, url: string): Promise<void> {
  const browser = ownPage.context().browser();
  assert.ok(browser !== null);
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(url);
  await page.getByText('You are invited to second as a viewer').waitFor();
  await page.getByLabel('E-mail').fill('viewer@example.com');
  await page.getByLabel('Password').fill(testPassword);
  await page.keyboard.press('Enter');
  await page.getByText('Your role lets you look').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('An owner changes them').waitFor();
  assert.ok(await page.getByRole('spinbutton', { name: 'Requests a minute, for each key' }).isDisabled());
  await page.close();
}

async function removeMember({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.reload();
  await page.getByRole('button', { name: 'Remove viewer@example.com' }).waitFor();
  await check('members');
  await page.getByRole('button', { name: 'Remove viewer@example.com' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
  await page.getByRole('cell', { name: 'viewer@example.com', exact: true }).waitFor({ state: 'detached' });
}

async function readAuditLog({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('link', { name: 'Audit log' }).press('Enter');
  await page.getByText('removed a member').waitFor();
  await page.getByLabel('Events of').selectOption('the whole service');
  await page.getByText('signed in').first().waitFor();
  assert.match(await page.getByRole('region', { name: 'Events' }).innerText(), new RegExp(email));
  await check('audit-log');
}

/** The shipped model, as a process without an engine shows it. */
async function lookAtModel({ page, check }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('link', { name: 'Model' }).press('Enter');
  await page.getByText('the shipped model').waitFor();
  await page.getByText('Another process has the engine').waitFor();
  await page.getByRole('button', { name: 'Examine the installation' }).press('Enter');
  await page.getByText('Nothing is wrong.').waitFor();
  assert.match(await page.getByRole('region', { name: 'Findings' }).innerText(), /clock/);
  await check('model');
}

test('in a browser: limits set, a project made, a member invited and removed', { skip }, async (t) => {
  const console = await openBrowser(t, showShippedModel());
  await setUp(console);
  await setLimits(console);
  await joinAsViewer(console, await invite(console));
  await removeMember(console);
  await readAuditLog(console);
  await lookAtModel(console);
  console.assertFine();
});
