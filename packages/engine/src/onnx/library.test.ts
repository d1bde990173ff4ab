import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/fixtures.js';
import { knownVersion, libraryPath, openLibrary } from './library.js';

/** Copies the package's library and changes only the text of its version. */
async function libraryOfVersion(version: string, folder: string): Promise<string> {
  const library = await readFile(libraryPath());
  const known = Buffer.from(`\0${knownVersion}\0`);
  const at = library.indexOf(known);
  assert.ok(at > 0 && library.indexOf(known, at + 1) < 0);
  library.write(version, at + 1, 'latin1');
  const file = path.join(folder, `libonnxruntime-${version}.so`);
  await writeFile(file, library, { mode: 0o700 });
  return file;
}

test('the known version is the one that this package depends on', async () => {
  const manifest = await readFile(path.resolve(import.meta.dirname, '../../package.json'), 'utf8');
  assert.equal(/"onnxruntime-node": "([^"]+)"/u.exec(manifest)?.[1], knownVersion);
  assert.ok(openLibrary(libraryPath()).table.every((place) => place !== 0n));
});

// Other systems refuse a library that was changed after it was signed, or one with such a name.
test('a library of another version is refused by name', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = await temporaryFolder(t);
  for (const version of ['1.29.0', '1.30.1']) {
    const file = await libraryOfVersion(version, folder);
    const message = `ONNX Runtime ${version} was found (${file}), and this release works with ${knownVersion} alone`;
    assert.throws(
      () => openLibrary(file),
      (error: Error) => error.message.startsWith(message) && error.message.includes('npm ci'),
    );
  }
});
