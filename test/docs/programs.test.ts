/** The programs of docs/teachers.md and docs/engine.md are shown as they are, and the teacher learns. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from './markdown.js';

const example = path.join(root, 'packages', 'learning', 'examples', 'priceTeacher.mjs');

test('a teacher of one rule teaches a price', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example]);
  assert.match(stdout, /^accepted: \d of \d held-out questions\n\$149\n$/);
});

for (const [page, file] of [
  ['teachers.md', example],
  ['engine.md', path.join(root, 'packages', 'engine', 'examples', 'train-and-answer.mjs')],
] as const)
  test(`docs/${page} shows parts of its program as they are`, async () => {
    const markdown = await readFile(path.join(root, 'docs', page), 'utf8');
    const source = await readFile(file, 'utf8');
    const shown = [...markdown.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
    assert.ok(shown.length > 1);
    for (const code of shown) assert.ok(source.includes(code), code);
  });
