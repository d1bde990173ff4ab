// Compiles all packages, copies what the compiler leaves behind, and removes outputs whose source is gone, so that
// a deleted test does not go on running from `dist`.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './lib/steps.mjs';

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-b', '--pretty'], { cwd: root, stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

for (const name of readdirSync(join(root, 'packages')))
  removeOrphans(join(root, 'packages', name, 'src'), join(root, 'packages', name, 'dist'));
removeOrphans(join(root, 'test'), join(root, 'test', 'dist'));

const migrations = join('db', 'migrations');
const target = join(root, 'packages', 'service', 'dist', migrations);
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(join(root, 'packages', 'service', 'src', migrations), target, { recursive: true });

function removeOrphans(sourceFolder, outputFolder) {
  for (const output of filesUnder(outputFolder)) {
    const match = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(relative(outputFolder, output));
    if (match !== null && !existsSync(join(sourceFolder, `${match[1]}.ts`))) rmSync(output);
  }
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
