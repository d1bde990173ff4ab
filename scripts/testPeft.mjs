// `npm run test:peft`: runs the trainer's own tests, and those of trainings on a real trainer beside the embedded
// engine, without a GPU. It takes PyTorch, transformers, PEFT and accelerate from PyPI into a folder of its own, or the
// Python of ENGRAFT_TEST_PEFT_PYTHON, which has them with pytest. ENGRAFT_TEST_PEFT_MODEL names the folder of another
// checkpoint, such as SmolLM2-135M, to train on as well. It needs Python 3.11 or later with venv; the service does not.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, requireNode, root } from './lib/steps.mjs';

const project = join(root, 'trainers', 'peft');
const testTimeoutMs = 3_600_000;

requireNode();
await ensureInstalled();
await ensureBuilt();
const python = process.env.ENGRAFT_TEST_PEFT_PYTHON || installTrainer();
const environment = { ...process.env, ENGRAFT_TEST_PEFT_PYTHON: python, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' };
const own = await run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
  cwd: project,
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

/** The Python that has it. It stays for the next run, until the pinned versions change. */
function installTrainer() {
  const pinned = readFileSync(join(project, 'pyproject.toml'), 'utf8');
  const name = `peft-${createHash('sha256').update(pinned).digest('hex').slice(0, 12)}`;
  const place = join(root, 'node_modules', '.cache', 'engraft', name);
  const installed = join(place, 'lib', 'installed');
  if (!existsSync(installed)) {
    execFileSync('python3', ['-m', 'venv', place], { stdio: 'inherit' });
    // What it requires, and not the package itself, whose sources are tested.
    const wanted = [...pinned.matchAll(/^ {2}"([^"]+==[^"]+)"|^test = \["([^"]+)"\]/gm)].map(
      ([, one, two]) => one ?? two,
    );
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet'];
    execFileSync(join(place, 'bin', 'python'), [...pip, ...wanted], { stdio: 'inherit' });
    mkdirSync(installed);
  }
  return join(place, 'bin', 'python');
}

function sourcesBefore(path) {
  const sources = join(project, 'src');
  return path ? `${sources}:${path}` : sources;
}

function run(command, args, settings) {
  const child = spawn(command, args, { stdio: 'inherit', ...settings });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}
