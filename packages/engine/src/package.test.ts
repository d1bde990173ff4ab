/** The published package holds every file that runs and none that only tests need. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('..', import.meta.url));
const repository = path.join(folder, '..', '..');

/** Files of the package as `npm pack` lists them. */
async function packedFiles(): Promise<readonly string[]> {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const cli = process.env['npm_execpath'];
  // Uses the npm that runs the tests, or else the one on the PATH, which on Windows only a shell can start.
  const [command, given] = cli === undefined ? ['npm', args] : [process.execPath, [cli, ...args]];
  const shell = cli === undefined && process.platform === 'win32';
  const { stdout } = await promisify(execFile)(command, given, { cwd: folder, shell, maxBuffer: 2 ** 24 });
  const [pack] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  return pack.files.map((file) => file.path);
}

/** Finds the file and all files that it imports or starts, directly or not, as paths in the package. */
async function neededFrom(file: string, needed = new Set<string>()): Promise<ReadonlySet<string>> {
  if (needed.has(file)) return needed;
  needed.add(file);
  const source = await readFile(path.join(folder, file), 'utf8');
  for (const [, relative = ''] of source.matchAll(/(?:from|import|import\(|new URL\()\s*'(\.[^']*\.js)'/g)) {
    await neededFrom(path.posix.join(path.posix.dirname(file), relative), needed);
  }
  return needed;
}

test('the package holds all that it needs to run, and neither tests nor fixtures', async () => {
  const files = await packedFiles();
  const needed = await neededFrom('dist/index.js');
  for (const file of [
    'dist/process/child.js',
    'dist/adapters/adapterThread.js',
    'dist/lora/gradientThread.js',
    'dist/model/trainingGraph.js',
  ]) {
    assert.ok(needed.has(file), `${file} is not found to be needed`);
  }
  for (const file of [...needed, 'dist/index.d.ts', 'README.md', 'LICENSE', 'package.json']) {
    assert.ok(files.includes(file), `${file} is missing`);
  }
  const foreign = files.filter((file) => /\.test\.|(^|\/)(testing|fixtures|node_modules)\/|\.tsbuildinfo$/.test(file));
  assert.deepEqual(foreign, []);
});

test('what the package says of itself is what the repository says', async () => {
  const read = (...names: string[]): Promise<string> => readFile(path.join(...names), 'utf8');
  assert.equal(await read(folder, 'LICENSE'), await read(repository, 'LICENSE'));
  const [own, root] = (await Promise.all([folder, repository].map((folder) => read(folder, 'package.json')))).map(
    (text) => JSON.parse(text) as Readonly<Record<string, unknown>>,
  );
  for (const field of ['version', 'license', 'engines']) assert.deepEqual(own?.[field], root?.[field], field);
});

test('links of the README lead to files of the package', async () => {
  const files = await packedFiles();
  const readme = await readFile(path.join(folder, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  assert.ok(links.length > 0);
  for (const link of links) assert.ok(files.includes(link), link);
});
