import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRandom } from '../support/random.js';
import { tinyConfig } from '../testing/fixtures.js';
import { sum } from '../support/numbers.js';
import { packRows } from './packing.js';

const config = { ...tinyConfig, contextLength: 512 };

void test('every sequence has its own tokens within the rows', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 512 }), { minLength: 1, maxLength: 40 }), (lengths) => {
      const { rows, length, places } = packRows(lengths, config);
      assert.ok(length <= config.contextLength);
      const taken = new Set<number>();
      for (const [index, { row, offset }] of places.entries()) {
        assert.ok(row < rows && offset + lengths[index]! <= length);
        for (let token = 0; token < lengths[index]!; token += 1) taken.add(row * length + offset + token);
      }
      assert.equal(taken.size, sum(lengths));
    }),
  );
});

void test('sequences of one length have a row each', () => {
  const { rows, length } = packRows([128, 128, 128, 128, 128, 128, 128, 128], config);
  assert.deepEqual([rows, length], [8, 128]);
});

for (const [count, longest] of [
  [4, 128],
  [8, 128],
  [8, 512],
  [24, 200],
] as const) {
  void test(`less than 15 % of the tokens are padding: ${count} random lengths up to ${longest}`, () => {
    const random = createRandom(count + longest);
    let tokens = 0;
    let cells = 0;
    for (let batch = 0; batch < 200; batch += 1) {
      const lengths = Array.from({ length: count }, () => 4 + Math.floor(random.next() * (longest - 3)));
      const { rows, length } = packRows(lengths, config);
      tokens += sum(lengths);
      cells += rows * length;
    }
    assert.ok(1 - tokens / cells < 0.15, `${100 * (1 - tokens / cells)} %`);
  });
}
