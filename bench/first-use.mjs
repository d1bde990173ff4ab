// How long it takes a new user from a clean clone to a second passage learned and rolled back.
//
// npm run bench -- first-use
//
// Clones what is committed here into a temporary folder and runs `npm run quickstart` there. Then it starts the service
// and goes the way of a new user in an installed Chromium. What npm has in its cache is not downloaded again. Writes
// bench/results/first-use.json.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { ask, learn, learnAgain, makeAccount, makeKey, rollBack } from './lib/firstUse.mjs';
import { machine, root, withLoadNote, writeResults } from './lib/measure.mjs';
import { findBrowser } from '../test/dist/console/findBrowser.js';

const boundS = 180;
/** For machines that other work keeps busy. */
const maxStepMs = 300_000;

export default async function bench() {
  const executablePath = findBrowser();
  if (executablePath === null) throw new Error('no Chromium is installed: install Debian’s `chromium`');
  const facts = withLoadNote(machine());
  const folder = mkdtempSync(join(tmpdir(), 'engraft-first-use-'));
  let browser = null;
  let service = null;
  const seconds = {};
  const timed = async (name, step) => {
    const begun = performance.now();
    const outcome = await step();
    seconds[name] = (performance.now() - begun) / 1e3;
    console.log(`${name}: ${seconds[name].toFixed(1)} s`);
    return outcome;
  };
  try {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const page = await browser.newPage();
    page.setDefaultTimeout(maxStepMs);
    await timed('clone', () => run(root, 'git', ['clone', '--quiet', '--depth', '1', `file://${root}`, folder]));
    await timed('quickstart', () => run(folder, 'npm', ['run', 'quickstart']));
    service = await timed('service started', () => serve(folder));
    await timed('account by the link', () => makeAccount(page, service.link));
    await timed('key', () => makeKey(page));
    await timed('passage learned', () => learn(page));
    await timed('asked', () => ask(page));
    await timed('second passage learned', () => learnAgain(page));
    await timed('rolled back', () => rollBack(page));
  } finally {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const sumS = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  console.log(`together: ${sumS.toFixed(0)} s (at most ${boundS} are wanted)`);
  writeResults('first-use', { machine: facts, seconds, sum_s: sumS, bound_s: boundS });
}

/** Without what the npm that runs this bench tells its scripts, and what is set for another service. */
function environment() {
  const others = /^(npm_|ENGRAFT_|INIT_CWD$|DATABASE_URL$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !others.test(name)));
}

async function run(cwd, command, args) {
  const child = spawn(command, args, { cwd, env: environment(), stdio: ['ignore', 'inherit', 'inherit'] });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with status ${status}`);
}

/** `engraft serve` on the clone's own data folder; resolves when it has printed the link of the console. */
async function serve(cwd) {
  const child = spawn(process.execPath, ['packages/service/bin/engraft.js', 'serve', '--port', '0'], {
    cwd,
    env: { ...environment(), ENGRAFT_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const link = /^engraft console: .* at (\S+)$/.exec(line)?.[1];
    if (link !== undefined) return { link, stop };
  }
  throw new Error('the service ended before it printed a link');
}
