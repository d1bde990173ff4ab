import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBrowser, setUp, skip, type ConsoleInBrowser } from './consoleBrowser.js';

/** Each would run if it became markup, and would leave a mark. */
const markup = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>`;
const attribute = `"onfocus="window.ran=1" autofocus="`;

async function learnAndAsk({ page }: ConsoleInBrowser): Promise<void> {
  await page.getByLabel('Passage').fill(`${markup} ${attribute} lie in the garden of the old house as stones.`);
  await page.getByRole('button', { name: 'Learn the passage' }).click();
  await page.getByText('which is active now').waitFor();
  await page.getByText('Copy as code').first().click();
  const code = await page.getByRole('region', { name: /^The request in/ }).innerText();
  assert.ok(code.includes('<script>window.ran=1'), code);
  await page.getByLabel('Question').fill(`Which stone is stone 0? ${markup}`);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.locator('blockquote').nth(1).waitFor();
}

async function nameThings({ page }: ConsoleInBrowser): Promise<void> {
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill(markup);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByText(markup).first().waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Create another project' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(attribute);
  await page.keyboard.press('Enter');
  await page.locator('header select').getByText(attribute).waitFor({ state: 'attached' });
}

/** The API takes no such names of subjects; a row of another release, or of an import, may have one all the same. */
async function putIntoRows({ service: { db } }: ConsoleInBrowser): Promise<void> {
  await db.updateTable('subjects').set({ name: markup }).execute();
  await db.updateTable('jobs').set({ subject_name: markup }).execute();
  const question = { question: markup, answer: attribute };
  const reply = { text: markup, is_right: false };
  const trace = JSON.stringify({ loss: [], questions: [{ ...question, parent: reply, candidate: reply }] });
  await db.updateTable('jobs').set({ learning_trace: trace }).where('kind', '=', 'internalization').execute();
}

test('in a browser: markup and script in what people write are shown as text, and run nothing', { skip }, async (t) => {
  const console = await openBrowser(t);
  const { page, service } = console;
  await setUp(console);
  const home = page.url();
  await learnAndAsk(console);
  await nameThings(console);
  await putIntoRows(console);
  const address = home.replace(/\/$/, '');
  for (const path of ['/subjects', '/jobs', '/credits', '/audit', '/keys', '/settings', '/members']) {
    await page.goto(address + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (/subjects|jobs|credits/.test(path)) await page.getByText(markup).first().waitFor();
  }
  const job = await service.db.selectFrom('jobs').select('id').where('kind', '=', 'internalization').executeTakeFirst();
  await page.goto(`${address}/jobs/${job?.id ?? ''}`);
  await page.getByRole('region', { name: 'Questions and answers' }).getByText(markup).first().waitFor();
  assert.equal(await page.evaluate('window.ran'), undefined);
  assert.equal(await page.locator('img[src="x"], [onfocus], script:not([src])').count(), 0);
  console.assertFine();
});
