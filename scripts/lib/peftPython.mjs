// A Python with what the PEFT trainer requires, in a folder of its own.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './steps.mjs';

export const trainerProject = join(root, 'trainers', 'peft');

/** That of ENGRAFT_TEST_PEFT_PYTHON, or one with the pinned versions from PyPI, which stays until these change. */
export function findPeftPython() {
  return process.env.ENGRAFT_TEST_PEFT_PYTHON || installRequirements();
}

function installRequirements() {
  const pinned = readFileSync(join(trainerProject, 'pyproject.toml'), 'utf8');
  const name = `peft-${createHash('sha256').update(pinned).digest('hex').slice(0, 12)}`;
  const place = join(root, 'node_modules', '.cache', 'engraft', name);
  const python = join(place, 'bin', 'python');
  const finished = join(place, 'lib', 'installed');
  if (!existsSync(finished)) {
    execFileSync('python3', ['-m', 'venv', place], { stdio: 'inherit' });
    // What it requires, and not the package itself, whose sources are tested.
    const wanted = [...pinned.matchAll(/^ {2}"([^"]+==[^"]+)"|^test = \["([^"]+)"\]/gm)].map(
      ([, one, two]) => one ?? two,
    );
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet'];
    execFileSync(python, [...pip, ...wanted], { stdio: 'inherit' });
    mkdirSync(finished);
  }
  return python;
}
