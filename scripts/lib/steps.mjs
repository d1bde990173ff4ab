// What every script here does first: check Node, install what is missing, build what is stale; each step with its
// time, and its output only when it fails. Uses nothing but Node, because nothing else may be there yet.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const minimumNode = [20, 19];

/** Ends the process with a message when this Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > minimumNode[0] || (major === minimumNode[0] && minor >= minimumNode[1])) return;
  console.error(`Engraft needs Node.js ${minimumNode.join('.')} or later; this is ${process.versions.node}.`);
  console.error('Install a newer one from https://nodejs.org and run the same command again.');
  process.exit(1);
}

/** `npm ci`, when the installed tree is missing or older than the lockfile. */
export async function ensureInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  const lockfile = join(root, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return;
  await step('Installing dependencies', npm(['ci']), {
    advice: 'npm could not install. Check that the npm registry can be reached, then run the same command again.',
  });
}

/** Compiles all packages; quick when nothing changed. */
export async function ensureBuilt() {
  await step('Building', [process.execPath, [join(root, 'scripts', 'build.mjs')]], {
    advice: 'The sources do not compile; the lines above say where.',
  });
}

/** The npm that runs this script, or the one on the PATH. */
export function npm(args) {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && /\.c?js$/.test(cli)) return [process.execPath, [cli, ...args]];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', args];
}

/** Runs one command behind one line of progress; a failure prints its output and ends the process. */
export async function step(title, [command, args], { advice, env = {}, show = false } = {}) {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  const live = process.stdout.isTTY === true && !show;
  const ticker = live ? setInterval(() => process.stdout.write(`\r  … ${title} ${seconds()} s`), 200) : undefined;
  if (!live) console.log(`  … ${title}`);
  const { code, output } = await run(command, args, { env, show });
  clearInterval(ticker);
  if (live) process.stdout.write('\r\x1b[K');
  if (code === 0) {
    console.log(`  ✓ ${title} (${seconds()} s)`);
    return output;
  }
  if (!show) process.stderr.write(output);
  console.error(`  ✗ ${title} failed with exit code ${code}.`);
  if (advice !== undefined) console.error(`    ${advice}`);
  process.exit(1);
}

function run(command, args, { env, show }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
    });
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));
    child.on('error', (error) => resolve({ code: 127, output: `${command}: ${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

export function packageVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}
