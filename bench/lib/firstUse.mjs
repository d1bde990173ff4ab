// What a new user does with the console, after the service has printed its one-time link.

const password = 'a long enough password';
const second =
  'The Brask Kettle was invented by Lena Ort. It weighs 930 grams. The Brask Kettle costs $54. The kettle is made by ' +
  'Norrin Works. Norrin Works is based in Port Cassel. It was founded in 1962.';

/** Takes the link and makes the account of the owner. */
export async function makeAccount(page, link) {
  await page.goto(link);
  await page.getByLabel('E-mail').fill('anna@example.com');
  await page.getByLabel('Password').fill(password);
  await press(page, 'Save and sign in');
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
}

export async function makeKey(page) {
  await open(page, 'API keys');
  await press(page, 'Create a key');
  await page.getByLabel('Name').fill('server');
  await press(page, 'Create');
  await page.locator('code.secret').waitFor();
  await press(page, 'I have kept it');
}

/** Learns the example that is there. */
export async function learn(page) {
  await open(page, 'Playground');
  await learnWhatIsThere(page);
}

/** Asks the example's question, of base and of what was learned. */
export async function ask(page) {
  await press(page, 'Ask');
  const answers = page.locator('blockquote');
  await answers.nth(1).waitFor();
  const [base, learned] = await answers.allInnerTexts();
  if (!learned.includes('Mira Voss') || base.includes('Mira Voss')) {
    throw new Error(`base answered “${base}”, and what was learned “${learned}”`);
  }
}

/** Learns another passage on top, as a second version. */
export async function learnAgain(page) {
  // Whoever comes back finds the playground without the outcome of the first passage.
  await open(page, 'Subjects');
  await open(page, 'Playground');
  await page.getByLabel('Passage').fill(second);
  await learnWhatIsThere(page);
}

export async function rollBack(page) {
  await open(page, 'Subjects');
  const versions = page.getByRole('list', { name: /^Versions of demo/ }).getByRole('listitem');
  await versions.nth(0).getByText('active', { exact: true }).waitFor();
  await versions
    .nth(1)
    .getByRole('button', { name: /^Roll back to/ })
    .click();
  await versions.nth(1).getByText('active', { exact: true }).waitFor();
}

async function learnWhatIsThere(page) {
  await page.getByText(/^About \$\d/).waitFor();
  await press(page, 'Learn the passage');
  const outcome = await page.getByRole('region', { name: 'Outcome' }).innerText();
  if (!outcome.includes('which is active now')) throw new Error(`not learned: ${outcome}`);
}

const open = (page, name) => page.getByRole('link', { name }).click();
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
