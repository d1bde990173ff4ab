import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { scriptedLearner } from '@engraft/service/testing/scriptedLearner.js';
import { ownerLink, testPassword } from '@engraft/service/testing/testConsole.js';
import { startTestService, type TestService } from '@engraft/service/testing/testService.js';
import { chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { findBrowser } from './findBrowser.js';

const executablePath = findBrowser();
/** The reason why tests in a browser are skipped, or `false`. */
export const skip =
  executablePath === null &&
  'no Chromium is installed: install Debian’s `chromium`, or name one in ENGRAFT_TEST_CHROMIUM';
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const violations = z.array(z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.unknown()) }));
export const email = 'anna@example.com';

export interface ConsoleInBrowser {
  readonly service: TestService;
  readonly page: Page;
  /** Looks at the page wide and narrow, and keeps what is wrong with it for `assertFine`. */
  readonly check: (name: string) => Promise<void>;
  /** Nothing was wrong with any page, above all not with the Content-Security-Policy. */
  readonly assertFine: () => void;
}

type Overrides = Parameters<typeof startTestService>[1];

/** The service with a scripted learner, and a page of a real browser at it. */
export async function openBrowser(t: TestContext, overrides: Overrides = {}): Promise<ConsoleInBrowser> {
  const script = { slow: () => Promise.resolve(false), disk_full: () => Promise.resolve(false), elsewhere: null };
  const { engine, method } = scriptedLearner(script);
  const service = await startTestService(engine, overrides, method);
  t.after(() => service.stop());
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await (await browser.newContext()).newPage();
  // Machines that run tests may be very busy.
  page.setDefaultTimeout(120_000);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // A browser also calls a refusal an error; the console asks who is signed in to find that nobody is.
    if (message.type() === 'error' && !/40[139]|422/.test(message.text()))
      problems.push(`${message.text()} ${message.location().url}`);
  });
  return {
    service,
    page,
    check: async (name) => void problems.push(...(await problemsOf(page, name))),
    assertFine: () => assert.deepEqual(problems, []),
  };
}

/** A wide page in light and a narrow one in dark: nothing that axe finds serious, and no scrolling to the side. */
async function problemsOf(page: Page, name: string): Promise<string[]> {
  const problems: string[] = [];
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    for (const each of ['light', 'dark'] as const) await shoot(page, `${name}-${width}-${each}.webp`, each);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(axeSource);
    const found = violations.parse(await page.evaluate('axe.run().then((report) => report.violations)'));
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    if (serious.length > 0) problems.push(`${name} at ${width}: ${JSON.stringify(serious)}`);
    const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(excess) > 0) problems.push(`${name} at ${width} is ${String(excess)} too wide`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  return problems;
}

/** Draws the page in this scheme into the folder of `ENGRAFT_TEST_SCREENSHOTS`, if that is set. */
async function shoot(page: Page, name: string, colorScheme: 'light' | 'dark'): Promise<void> {
  const folder = process.env['ENGRAFT_TEST_SCREENSHOTS'];
  if (folder === undefined) return;
  await page.emulateMedia({ colorScheme });
  // Behind a dialog the page is dimmed as far as the screen goes.
  const isWhole = (await page.locator('dialog[open]').count()) === 0;
  const browser = await page.context().newCDPSession(page);
  const { data } = await browser.send('Page.captureScreenshot', {
    // A third of the bytes of a PNG.
    format: 'webp',
    quality: 60,
    captureBeyondViewport: isWhole,
    ...(isWhole ? { clip: await pageBox(page) } : {}),
  });
  await browser.detach();
  writeFileSync(path.join(folder, name), data, 'base64');
}

const pageSize = z.object({ width: z.number(), height: z.number() });

async function pageBox(page: Page) {
  const size = '{ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight }';
  return { x: 0, y: 0, scale: 1, ...pageSize.parse(await page.evaluate(`(${size})`)) };
}

/** Sets up the owner of everything by a link. */
export async function setUp({ service, page, check }: ConsoleInBrowser): Promise<void> {
  await page.goto(await ownerLink(service.db, service.url));
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(testPassword);
  await check('set-up');
  await page.getByRole('button', { name: 'Save and sign in' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
}
