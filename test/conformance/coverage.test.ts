import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { findCoverage, quotes, renderCoverage } from './coverage.js';
import { rules } from './rules.js';
import { root } from './testTitles.js';

test('every rule of the contract has a test', async () => {
  const { rows, unknownTitles } = await findCoverage();
  assert.deepEqual(unknownTitles, []);
  assert.deepEqual(
    rows.filter(({ tests }) => tests.length === 0).map(({ rule }) => `${rule.id}: ${rule.sentence}`),
    [],
  );
});

test('docs/api/coverage.md says which; `npm run coverage:api` writes it', async () => {
  const page = await readFile(path.join(root, 'docs/api/coverage.md'), 'utf8');
  assert.equal(page, renderCoverage(await findCoverage()));
});

test('rules have distinct ids and sentences', () => {
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
  assert.equal(new Set(rules.map(({ sentence }) => sentence)).size, rules.length);
});

test('a title quotes a sentence in part, with gaps, or as a whole', () => {
  const sentence = 'Two simultaneous `identical` requests admit one job.';
  assert.ok(quotes('"identical requests admit"', sentence));
  assert.ok(quotes('"Two simultaneous … admit one job", and more', sentence));
  assert.ok(quotes('"so: Two simultaneous identical requests admit one job."', sentence));
  assert.ok(!quotes('"one job"', sentence));
  assert.ok(!quotes('two simultaneous identical requests', sentence));
  assert.ok(!quotes('"three simultaneous requests"', sentence));
});
