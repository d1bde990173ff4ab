import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const docs = path.resolve(import.meta.dirname, '../../../docs');

test('every claim of docs/security.md names the tests that show it', async () => {
  const page = await readFile(path.join(docs, 'security.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| (?!claim |---)/u.test(line));
  assert.ok(rows.length > 15);
  for (const row of rows) {
    const files = [...row.matchAll(/\]\((\.\.\/[^)]+\.test\.ts)\)/gu)].map(([, file = '']) => file);
    assert.ok(files.length > 0, row);
    for (const file of files) await access(path.join(docs, file));
  }
});
