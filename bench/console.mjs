// How soon the console can be used, and whether a list of 10,000 jobs scrolls without a long task.
//
// npm run bench -- console [--jobs 10000]
//
// The real interface on a database with `--jobs` jobs, and an installed Chromium. Writes bench/results/console.json.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { machine, option, root, withLoadNote, writeResults } from './lib/measure.mjs';

const load = (path) => import(pathToFileURL(join(root, path)).href);
const { startTestConsole, signUp } = await load('packages/service/dist/testing/testConsole.js');
const { createTestKey, createTestProject } = await load('packages/service/dist/testing/testApp.js');
const { findBrowser } = await load('test/dist/console/findBrowser.js');

/** Chromium calls a task of more than 50 ms long. */
const observeLongTasks = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });`;

export default async function bench(args) {
  const jobs = Number(option(args, 'jobs', '10000'));
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('no Chromium is installed: install Debian’s `chromium`');
  const service = await startTestConsole();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const projectId = await createTestProject(service.db);
    await fill(service, projectId, jobs);
    const { cookie } = await signUp(service, 'bench@example.com', 'owner');
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const [name, value] = cookie.split('=');
    await context.addCookies([{ name, value, url: `${service.url}/console` }]);
    await context.addInitScript(observeLongTasks);
    const results = { machine: withLoadNote(machine()), jobs };
    results.start = await measureStart(context, `${service.url}/console/p/${projectId}/keys`);
    results.scroll = await measureScroll(context, `${service.url}/console/p/${projectId}/jobs`, jobs);
    console.log(`usable after ${results.start.usable_ms.toFixed(0)} ms (at most 1,000 is wanted)`);
    console.log(
      `${results.scroll.rows} rows scrolled in ${results.scroll.seconds.toFixed(1)} s; ` +
        `longest task ${results.scroll.longest_task_ms.toFixed(0)} ms (at most 100 is wanted)`,
    );
    writeResults('console', results);
  } finally {
    await browser.close();
    await service.stop();
  }
}

/** Ended questions, as many as wanted, written by the owner of the tables in one statement. */
async function fill({ owner, db }, projectId, count) {
  const key = await createTestKey(db, projectId);
  const { sql } = await import(pathToFileURL(join(root, 'node_modules/kysely/dist/esm/index.js')).href);
  await sql`set session_replication_role = replica;
    insert into jobs (id, project_id, subject_name, api_key_id, kind, status, phase, adapter_version, request,
      pricing_version, reserved_microusd, compute_microusd, settled)
    select 'job_' || lpad(number::text, 24, '0'), ${sql.lit(projectId)}, 'subject-' || number % 100, ${sql.lit(key.id)},
      'inference', 'succeeded', 'done', 'base', 'null', '2026-11-01', 1000, 500, true
    from generate_series(1, ${sql.lit(count)}) as number;
    set session_replication_role = default`.execute(owner);
}

/** From the address to the first button that a person can press, with nothing kept from before. */
async function measureStart(context, address) {
  const page = await context.newPage();
  const begun = performance.now();
  await page.goto(address, { waitUntil: 'commit' });
  await page.getByRole('button', { name: 'Create a key' }).waitFor();
  const usableMs = performance.now() - begun;
  const longTasks = await page.evaluate('window.longTasks');
  await page.close();
  return { usable_ms: usableMs, longest_task_ms: Math.max(0, ...longTasks) };
}

/** Turns the wheel until the last job is there. */
async function measureScroll(context, address, jobs) {
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole('region', { name: 'Jobs' }).waitFor();
  await page.evaluate('window.longTasks.length = 0');
  const begun = performance.now();
  await page.mouse.move(600, 500);
  const rows = () => page.evaluate(`Number(document.querySelector('table').getAttribute('aria-rowcount')) - 1`);
  while ((await rows()) < jobs) await page.mouse.wheel(0, 3_000);
  const seconds = (performance.now() - begun) / 1e3;
  const longTasks = await page.evaluate('window.longTasks');
  const shown = await page.locator('tbody tr').count();
  await page.close();
  return { rows: jobs, rows_in_page: shown, seconds, longest_task_ms: Math.max(0, ...longTasks) };
}
