import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMet, markdown, numberText, svg, targetText } from './report.mjs';

const sampleRow = {
  figure: 'A < B',
  model: 'm',
  threads: 1,
  unit: 'tokens/s',
  value: 1234.5,
  peer: 'p',
  peerValue: 1000,
  ratio: 1.2345,
  target: { atLeast: 1.2 },
};

test('a target is met on its own side of the bound', () => {
  assert.equal(isMet(sampleRow), true);
  assert.equal(isMet({ ...sampleRow, ratio: 1.19 }), false);
  assert.equal(isMet({ ...sampleRow, ratio: 1.9, target: { atMost: 2 } }), true);
  assert.equal(isMet({ ...sampleRow, ratio: 2.1, target: { atMost: 2 } }), false);
  assert.equal(isMet({ ...sampleRow, ratio: null, value: 29, target: { below: 30 } }), true);
  assert.equal(isMet({ ...sampleRow, ratio: null, value: 30, target: { below: 30 } }), false);
  assert.equal(isMet({ ...sampleRow, target: null }), null);
  assert.deepEqual([{ atLeast: 1 }, { atMost: 2 }, { below: 3 }, null].map(targetText), ['≥ 1', '≤ 2', '< 3', '']);
});

test('numbers have three digits that say something', () => {
  assert.deepEqual([1234.5, 123.45, 1.2345, 0.012345].map(numberText), ['1,235', '123', '1.23', '0.0123']);
});

test('table and plot show every figure, and a target that was missed', () => {
  const rows = [
    sampleRow,
    { ...sampleRow, ratio: 0.5 },
    { ...sampleRow, figure: 'no ratio', ratio: null, value: 50, target: { below: 30 } },
  ];
  const machine = { cpu: 'c', cores: 2, node: 'v20', date: '2026-01-01T00:00:00Z', loadAverage: 0.25 };
  const results = { machine, command: 'engine --quick', sections: [{ title: 'T', rows }] };
  const table = markdown(results)
    .split('\n')
    .filter((line) => line.startsWith('| A') || line.startsWith('| no'));
  assert.deepEqual(table, [
    '| A < B | m | 1 | 1,235 tokens/s | 1,000 (p) | 1.23 | ≥ 1.2 | yes |',
    '| A < B | m | 1 | 1,235 tokens/s | 1,000 (p) | 0.50 | ≥ 1.2 | **no** |',
    '| no ratio | m | 1 | 50 tokens/s | 1,000 (p) |  | < 30 | **no** |',
  ]);
  const plot = svg(results);
  assert.equal(plot.match(/A &lt; B/g).length, 2, 'what has no ratio has no bar');
  assert.ok(!plot.includes('A < B'));
});

test('a part that was measured on another machine says so', () => {
  const machine = { cpu: 'c', cores: 2, node: 'v20', date: '2026-01-01T00:00:00Z', loadAverage: 0.25 };
  const part = { title: 'T', date: '2026-01-02T10:20:30Z', loadAverage: 0.5, rows: [sampleRow] };
  const text = (section) => markdown({ machine, command: 'engine', sections: [section] });
  assert.match(text({ ...part, cpu: 'other' }), /^Begun 2026-01-02 10:20 UTC on other, load average 0\.5\.$/m);
  assert.match(text({ ...part, cpu: 'c' }), /^Begun 2026-01-02 10:20 UTC, load/m);
});
