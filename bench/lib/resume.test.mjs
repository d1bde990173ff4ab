import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { earlierRuns, fingerprint } from './resume.mjs';

test('runs are taken over from a file that was measured alike, and from no other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'engraft-resume-'));
  try {
    const source = join(folder, 'src');
    mkdirSync(join(source, 'inner'), { recursive: true });
    const file = (name, text) => writeFileSync(join(folder, name), text);
    const results = join(folder, 'results.json');
    file('set.jsonl', 'one');
    file('src/inner/a.ts', 'a');
    const now = (plan = { passages: 2 }) => fingerprint(plan, [source], [join(folder, 'set.jsonl')]);
    const measured = now();
    assert.deepEqual(earlierRuns(results, measured), []);
    file('results.json', JSON.stringify({ measured, runs: [{ seed: 1 }, { seed: 3 }] }));
    assert.deepEqual(earlierRuns(results, measured), [{ seed: 1 }, { seed: 3 }]);
    file('src/inner/a.test.ts', 'a test decides nothing that is measured');
    assert.equal(now(), measured);
    assert.notEqual(now({ passages: 3 }), measured);
    for (const [name, text] of [
      ['set.jsonl', 'two'],
      ['src/inner/a.ts', 'b'],
      ['src/c.ts', ''],
    ]) {
      const before = now();
      file(name, text);
      assert.notEqual(now(), before, name);
      assert.throws(() => earlierRuns(results, now()), /run without --resume/);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
