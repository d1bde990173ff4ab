// `npm run test:peft`: runs the trainer's own tests, and those of trainings on a real trainer beside the embedded
// engine, without a GPU. It takes PyTorch, transformers, PEFT and accelerate from PyPI into a folder of its own, or the
// Python of ENGRAFT_TEST_PEFT_PYTHON, which has them with pytest. ENGRAFT_TEST_PEFT_MODEL names the folder of another
// checkpoint, such as SmolLM2-135M, to train on as well. It needs Python 3.11 or later with venv; the service does not.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findPeftPython, trainerProject } from './lib/peftPython.mjs';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

const testTimeoutMs = 3_600_000;

requireNode();
await ensureInstalled();
await ensureBuilt();
const python = findPeftPython();
const environment = { ...process.env, ENGRAFT_TEST_PEFT_PYTHON: python, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' };
const own = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
  cwd: trainerProject,
  env: { ...environment, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: sourcesBefore(process.env.PYTHONPATH) },
});
const tests = [
  join(root, 'packages', 'trainer-peft', 'dist', 'realTrainer.test.js'),
  join(root, 'test', 'dist', 'peft', 'service.test.js'),
];
// One trainer at a time: each takes some 1 GB.
const options = ['--enable-source-maps', '--test-concurrency=1', `--test-timeout=${testTimeoutMs}`];
const crossed = await run(process.execPath, ['--test', '--test-reporter=spec', ...options, ...tests], {
  cwd: root,
  env: environment,
});
process.exitCode = own || crossed;

function sourcesBefore(path) {
  const sources = join(trainerProject, 'src');
  return path ? `${sources}:${path}` : sources;
}

function run(command, args, settings) {
  const child = spawn(command, args, { stdio: 'inherit', ...settings });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
