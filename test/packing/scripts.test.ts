import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { root } from '../docs/markdown.js';

const scripts = path.join(root, 'scripts');

/** The modules that a script loads before its first line runs, also by way of its own files. */
function loadedFirst(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = readFileSync(file, 'utf8');
  const named = [...source.matchAll(/^(?:import|export)\s(?:[^;]*?from\s)?'([^']+)'/gm)].map(([, name = '']) => name);
  return named.flatMap((name) =>
    name.startsWith('.') ? loadedFirst(path.resolve(path.dirname(file), name), seen) : [name],
  );
}

describe('a script that installs what is missing', () => {
  const installing = readdirSync(scripts)
    .filter((name) => name.endsWith('.mjs'))
    .filter((name) => readFileSync(path.join(scripts, name), 'utf8').includes('await ensureInstalled()'));

  test('is there for every first step', () => {
    for (const name of ['quickstart.mjs', 'test.mjs', 'testS3.mjs']) assert.ok(installing.includes(name), name);
  });

  for (const name of installing) {
    test(`loads only Node's own modules before: ${name}`, () => {
      const loaded = loadedFirst(path.join(scripts, name));
      assert.ok(loaded.length > 0);
      assert.deepEqual(
        loaded.filter((each) => !each.startsWith('node:')),
        [],
      );
    });
  }
});
