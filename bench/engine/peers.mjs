// Finds or installs the programs that the engine is compared with. They live in bench/.peers, which git ignores;
// `npm ci` knows nothing of them.
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { npm } from '../../scripts/lib/steps.mjs';
import { root } from '../lib/measure.mjs';

const execute = promisify(execFile);
const peers = join(root, 'bench/.peers');
const llamaVersion = '3.22.1';
const pythonPackages = ['torch', 'transformers', 'peft', 'safetensors'];

/**
 * The module node-llama-cpp, with the prebuilt CPU binary of this platform out of npm; nothing is built or downloaded.
 */
export async function loadNodeLlamaCpp() {
  const folder = join(peers, 'node_modules/node-llama-cpp');
  if ((await installedVersion(folder)) !== llamaVersion) {
    console.log(`  installing node-llama-cpp ${llamaVersion} into bench/.peers`);
    await mkdir(peers, { recursive: true });
    await writeFile(join(peers, 'package.json'), '{ "private": true }\n');
    // Its optional dependencies are binaries for every accelerator, hundreds of megabytes; one of them is enough.
    const packages = ['node-llama-cpp', `@node-llama-cpp/${binaryName()}`].map((name) => `${name}@${llamaVersion}`);
    const flags = ['--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
    const [command, args] = npm(['install', ...flags, ...packages]);
    await execute(command, args, { cwd: peers });
  }
  return import(pathToFileURL(join(folder, 'dist/index.js')).href);
}

function binaryName() {
  if (process.platform === 'linux') return `linux-${process.arch}`;
  if (process.platform === 'win32') return `win-${process.arch}`;
  return process.arch === 'arm64' ? 'mac-arm64-metal' : 'mac-x64';
}

async function installedVersion(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')).version : undefined;
}

/**
 * A Python process with PyTorch and PEFT that runs a script of this folder: lines of JSON go in, lines of JSON come
 * out.
 * @param {'active' | 'passive'} waiting whether OpenMP's threads spin while they wait: faster on a free machine, many
 *   times slower on a busy one
 * @param {{ script?: string, niceness?: number }} options the priority that the process is to have; by default this
 * one's
 * @returns {Promise<{ call: (request: object) => Promise<any>, close: () => Promise<void> }>}
 */
export async function startTorch(waiting, { script = 'torchStep.py', niceness = getPriority() } = {}) {
  const file = fileURLToPath(new URL(`./${script}`, import.meta.url));
  const child = spawn(await findPython(), ['-B', '-W', 'ignore', file], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OMP_WAIT_POLICY: waiting, HF_HUB_OFFLINE: '1', HF_HUB_DISABLE_PROGRESS_BARS: '1' },
  });
  // Before it starts threads, which take it over.
  if (child.pid !== undefined) setPriority(child.pid, niceness);
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  // Threads that spin while they wait would take a core from whoever has the next turn.
  const pause = () => process.platform === 'win32' || child.kill('SIGSTOP');
  const resume = () => process.platform === 'win32' || child.kill('SIGCONT');
  return {
    call: async (request) => {
      resume();
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('the Python process of the PyTorch peer has ended; its error is above');
      pause();
      return JSON.parse(value);
    },
    close: async () => {
      resume();
      child.stdin.end();
      await exit;
    },
  };
}

/** ENGRAFT_BENCH_PYTHON, or a Python that has the packages already, or a virtual environment made here. */
async function findPython() {
  const own = join(peers, 'venv', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  const base = process.env.ENGRAFT_BENCH_PYTHON ?? 'python3';
  for (const python of [base, own]) if (await hasPackages(python)) return python;
  console.log('  installing PyTorch and PEFT into bench/.peers/venv');
  await execute(base, ['-m', 'venv', '--system-site-packages', join(peers, 'venv')]);
  const pip = (...args) => execute(own, ['-m', 'pip', 'install', '--quiet', ...args], { maxBuffer: 2 ** 26 });
  // PyPI's own PyTorch for Linux brings gigabytes of CUDA along.
  await pip('torch', '--index-url', 'https://download.pytorch.org/whl/cpu');
  await pip(...pythonPackages.slice(1));
  return own;
}

async function hasPackages(python) {
  // Looking is a hundred times faster than importing.
  const script = `import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))`;
  try {
    await execute(python, ['-c', script, ...pythonPackages]);
    return true;
  } catch {
    return false;
  }
}
