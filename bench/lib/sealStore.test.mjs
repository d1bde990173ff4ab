import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from './sealStore.mjs';

const alone = (seed, id, base = null) => ({
  part: 'alone',
  seed,
  ids: [id],
  reports: [{ id, base, reading: base === null ? null : 'read', reading_instructed: null, learned: seed }],
});

test('what was measured is found again, with what base was asked for another seed, and nothing else is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'engraft-seal-'));
  try {
    const file = join(folder, 'seal-partial.json');
    const first = openStore(file, 'one', { model: 'small' });
    first.add(alone(2, 'a'));
    assert.equal(first.find(alone(2, 'a')), undefined, 'it is worth nothing before base was asked');
    first.add(alone(1, 'a', 'asked'));
    first.add({
      part: 'chain',
      seed: 1,
      ids: ['a', 'b'],
      reports: [
        { id: 'a', base: null },
        { id: 'b', base: null },
      ],
    });
    const again = openStore(file, 'one', { model: 'small' });
    assert.deepEqual(again.find(alone(2, 'a'))?.reports, [
      { id: 'a', base: 'asked', reading: 'read', reading_instructed: null, learned: 2 },
    ]);
    assert.ok(again.hasBase('a') && !again.hasBase('b'));
    assert.equal(again.find({ part: 'chain', seed: 1, ids: ['a', 'b'] })?.reports.length, 2);
    for (const other of [
      alone(3, 'a'),
      alone(1, 'b'),
      { part: 'chain', seed: 1, ids: ['b', 'a'] },
      { part: 'chain', seed: 1, ids: ['a'] },
    ]) {
      assert.equal(again.find(other), undefined);
    }
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).model, 'small');
    assert.throws(() => openStore(file, 'two', {}), /--anew/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
