import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const built = path.resolve(import.meta.dirname, '../../../packages/console/dist/app');
const maxScriptBytes = 200_000;

test('the first load of the console is under 200 KB of compressed script', () => {
  const page = readFileSync(path.join(built, 'index.html'), 'utf8');
  const scripts = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g)].map(([, file = '']) => file);
  assert.ok(scripts.length > 0, page);
  const bytes = scripts.map((file) => gzipSync(readFileSync(path.join(built, file))).length);
  const sum = bytes.reduce((total, each) => total + each, 0);
  assert.ok(sum > 10_000 && sum < maxScriptBytes, `${sum} bytes`);
});

test('the console loads nothing from elsewhere, and nothing of it is inline', () => {
  const page = readFileSync(path.join(built, 'index.html'), 'utf8');
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address);
  for (const address of loaded) assert.match(address, /^\/console\/assets\//);
  assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|style=/);
  for (const name of readdirSync(path.join(built, 'assets')).filter((file) => file.endsWith('.css')))
    assert.doesNotMatch(readFileSync(path.join(built, 'assets', name), 'utf8'), /@import|url\(/);
});
