/** The examples do what the README says of them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from './testing/fixtures.js';
import { writeRandomCheckpoint } from './testing/randomCheckpoint.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const example = path.join(folder, 'examples', 'train-and-answer.mjs');

test('the README’s example answers with what it has trained', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example]);
  assert.equal(stdout, 'Ada Kell.\n');
});

test('the example takes another model', async (t) => {
  const folder = await temporaryFolder(t);
  await writeRandomCheckpoint(folder);
  const { stdout } = await promisify(execFile)(process.execPath, [example, folder]);
  assert.notEqual(stdout.trim(), '');
  await assert.rejects(
    promisify(execFile)(process.execPath, [example, path.join(folder, 'none')]),
    /there is no folder/,
  );
});

test('the README shows the example as it is', async () => {
  const readme = await readFile(path.join(folder, 'README.md'), 'utf8');
  const [, shown] = /```js\n(.*?)```/s.exec(readme) ?? [];
  assert.equal(shown, await readFile(example, 'utf8'));
});
