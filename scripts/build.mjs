// Compiles all packages, bundles the console, renders the guide, copies what the compiler leaves behind, and removes
// outputs whose source is gone, so that a deleted test does not go on running from `dist`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { buildGuide } from './guide/buildGuide.mjs';
import { root } from './lib/steps.mjs';

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [tsc, '-b', '--pretty'], { cwd: root, stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

for (const name of readdirSync(join(root, 'packages')))
  removeOrphans(join(root, 'packages', name, 'src'), join(root, 'packages', name, 'dist'));
removeOrphans(join(root, 'test'), join(root, 'test', 'dist'));

await bundleConsole();
await buildGuide(root);

const migrations = join('db', 'migrations');
const target = join(root, 'packages', 'service', 'dist', migrations);
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(join(root, 'packages', 'service', 'src', migrations), target, { recursive: true });

/** Only when a source of the bundle, or a library of it, has changed. */
async function bundleConsole() {
  const folder = join(root, 'packages', 'console');
  const sources = [
    ...filesUnder(join(folder, 'src')),
    ...['index.html', 'package.json', 'vite.config.mjs'].map((name) => join(folder, name)),
    ...filesUnder(join(root, 'packages', 'contract', 'src')),
    join(root, 'package-lock.json'),
  ];
  const hash = createHash('sha256');
  for (const file of sources.sort()) hash.update(relative(root, file)).update(readFileSync(file));
  const digest = hash.digest('hex');
  const stamp = join(folder, 'dist', 'bundled.sha256');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(stamp, { force: true });
  const { build } = await import('vite');
  await build({ root: folder, configFile: join(folder, 'vite.config.mjs'), logLevel: 'warn' });
  writeFileSync(stamp, digest);
}

function removeOrphans(sourceFolder, outputFolder) {
  for (const output of filesUnder(outputFolder)) {
    const path = relative(outputFolder, output);
    const match = /^(.*)\.(?:js|d\.ts)(?:\.map)?$/.exec(path);
    // The console's bundle: none of its files has a source of its own.
    if (match === null || path.startsWith(`app${sep}`)) continue;
    if (!['ts', 'tsx'].some((ending) => existsSync(join(sourceFolder, `${match[1]}.${ending}`)))) rmSync(output);
  }
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
