// `npm run pack`: builds, and packs what is published into `dist/`: `engraft` (the service with model and console),
// `@engraft/engine` and `@engraft/client`. Each brings the packages of this repository that it needs, so a registry
// needs only those of others. Plain `npm pack` can't do that: in a workspace it would bundle those of others as well.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled, npm, requireNode, root } from './lib/steps.mjs';

const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist') }, built: { type: 'boolean', default: false } },
});
const out = resolve(process.env.INIT_CWD ?? process.cwd(), values.out);

requireNode();
// The tests have just built everything.
if (!values.built) {
  await ensureInstalled();
  await ensureBuilt();
}
const packages = readPackages();
const files = listFiles();
mkdirSync(out, { recursive: true });
packEngraft();
packLibrary('@engraft/engine');
packLibrary('@engraft/client');

/** The repository without sources and tests: the service finds model, console and sample where it finds them here. */
function packEngraft() {
  const name = '@engraft/service';
  const bundled = neededBy(name);
  const stage = openStage();
  for (const file of ['README.md', 'CHANGELOG.md', 'LICENSE', 'THIRD_PARTY.md', 'examples', 'docs'])
    cpSync(join(root, file), join(stage, file), { recursive: true });
  for (const model of ['base', 'presets'])
    cpSync(join(root, 'models', model), join(stage, 'models', model), { recursive: true });
  for (const each of [name, '@engraft/console']) copyFiles(each, join(stage, packages.get(each).folder));
  const { description, license, engines, version, overrides } = readManifest('.');
  pack(stage, {
    ...{ name: 'engraft', version, description, license, type: 'module', engines },
    bin: { engraft: `${packages.get(name).folder}/bin/engraft.js` },
    exports: { './package.json': './package.json' },
    // Overrides count only in a root. As a dependency the same version is found by whoever needs one.
    ...bundle(stage, [name, ...bundled], overrides),
  });
}

function packLibrary(name) {
  const { folder, manifest } = packages.get(name);
  const stage = openStage();
  copyFiles(name, stage);
  cpSync(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  const { devDependencies: _, ...published } = manifest;
  pack(stage, { ...published, ...bundle(stage, [name, ...neededBy(name)], {}) }, folder);
}

/** Puts all but the first of `names` into the stage, and says what a registry has to bring for all of them. */
function bundle(stage, names, extra) {
  const [first, ...bundled] = names;
  for (const each of bundled) copyFiles(each, join(stage, 'node_modules', each));
  const dependencies = { ...extra };
  for (const each of names) {
    for (const [dependency, range] of Object.entries(packages.get(each).manifest.dependencies ?? {})) {
      if ((dependencies[dependency] ?? range) !== range) throw new Error(`${first}: two versions of ${dependency}`);
      dependencies[dependency] = range;
    }
  }
  const sorted = Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { dependencies: sorted, ...(bundled.length === 0 ? {} : { bundleDependencies: bundled }) };
}

function pack(stage, manifest, directory) {
  const complete = { ...manifest, ...repository(directory), publishConfig: { access: 'public' } };
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(complete, null, 2)}\n`);
  const [command, args] = npm(['pack', '--silent', '--pack-destination', out]);
  const made = execFileSync(command, args, { cwd: stage, encoding: 'utf8' }).trim();
  rmSync(stage, { recursive: true });
  console.log(`  ✓ ${join(out, made)}`);
}

/** The repository that this clone comes from, or nothing if it has no remote. */
function repository(directory) {
  try {
    const url = execFileSync('git', ['remote', 'get-url', 'origin'], { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return { repository: { type: 'git', url: url.trim(), ...(directory === undefined ? {} : { directory }) } };
  } catch {
    return {};
  }
}

/** The packages of this repository, by name. */
function readPackages() {
  const folders = readdirSync(join(root, 'packages')).map((folder) => `packages/${folder}`);
  const found = folders.filter((folder) => existsSync(join(root, folder, 'package.json')));
  return new Map(
    found.map((folder) => {
      const manifest = readManifest(folder);
      return [manifest.name, { folder, manifest }];
    }),
  );
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/** All packages of this repository that `name` runs with, itself left out. */
function neededBy(name, seen = new Set([name])) {
  const own = Object.keys(packages.get(name).manifest.dependencies ?? {}).filter((each) => packages.has(each));
  return own.flatMap((each) => {
    if (seen.has(each)) return [];
    seen.add(each);
    return [each, ...neededBy(each, seen)];
  });
}

/** Lists the files that npm itself would put into each package, by `files` of its package.json. */
function listFiles() {
  const [command, args] = npm(['pack', '--dry-run', '--json', '--silent', '--workspaces']);
  const told = execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return new Map(Object.values(JSON.parse(told)).map((each) => [each.name, each.files.map(({ path }) => path)]));
}

function copyFiles(name, target) {
  if (name === '@engraft/console' && !files.get(name).includes('dist/app/index.html'))
    throw new Error('the console is not built: `npm run build` bundles it');
  for (const file of files.get(name)) cpSync(join(root, packages.get(name).folder, file), join(target, file));
}

/** Outside the repository, whose installed packages npm would find and bundle. */
function openStage() {
  return mkdtempSync(join(tmpdir(), 'engraft-pack-'));
}
