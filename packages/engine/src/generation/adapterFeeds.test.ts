import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import { createRandom } from '../random.js';
import { TINY_CONFIG } from '../testing/fixtures.js';
import type { LoadedAdapter } from './adapterCache.js';
import { RowAdapters, sharedAdapterFeeds, type StackBudget } from './adapterFeeds.js';

/** @param ranks of the projections of every layer, in turns; 0 for one that is not adapted. */
function randomAdapter(...ranks: readonly number[]): LoadedAdapter {
  const random = createRandom(ranks.length);
  const matrices = loraTensorSpecs(TINY_CONFIG, 1).flatMap(({ name, matrix, shape: [height, width] }, index) => {
    const rank = ranks[(index >> 1) % ranks.length]!;
    if (rank === 0) return [];
    const shape = matrix === 'A' ? [rank, width] : [height, rank];
    const data = Float32Array.from({ length: shape[0]! * shape[1]! }, () => random.next());
    return [[name, { shape, data }] as const];
  });
  return { contentHash: ranks.join(), matrices: new Map(matrices) };
}

const FULL = randomAdapter(8);
const FULL_HERE = randomAdapter(8, 0, 16);
const ADAPTERS = [null, FULL, FULL_HERE, randomAdapter(1), randomAdapter(2), randomAdapter(9), randomAdapter(0, 3, 17)];

function rankOf(adapter: LoadedAdapter | null, { name, matrix }: LoraTensorSpec): number {
  return adapter?.matrices.get(name)?.shape[matrix === 'A' ? 0 : 1] ?? 0;
}

/** Number by number: what a row's matrix must hold at a place of the padded rank. */
function expected(adapter: LoadedAdapter | null, spec: LoraTensorSpec, row: number, column: number): number {
  if (adapter === null || (spec.matrix === 'A' ? row : column) >= rankOf(adapter, spec)) return 0;
  const { shape, data } = adapter.matrices.get(spec.name)!;
  return data[row * shape[1]! + column]!;
}

test('whatever batches came before, every row has its own matrices and zeros beyond their ranks', () => {
  const batch = fc.array(fc.constantFrom(...ADAPTERS), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 6 }), (batches) => {
      const stacks = new RowAdapters(TINY_CONFIG);
      for (const rows of batches.filter((some) => some.some((row) => row !== null))) {
        const feeds = stacks.feeds(rows);
        const shared = rows.every((row) => row === rows[0]);
        const distinct = shared ? rows.slice(0, 1) : rows;
        for (const spec of loraTensorSpecs(TINY_CONFIG, 1).slice(0, 8)) {
          const { dims, data } = feeds[spec.name]!;
          const [count = 0, height = 0, width = 0] = dims.slice(-3);
          assert.equal(count, distinct.length);
          assert.deepEqual([spec.matrix === 'A' ? width : height], [spec.shape[spec.matrix === 'A' ? 1 : 0]]);
          const rank = spec.matrix === 'A' ? height : width;
          assert.ok(rank % 8 === 0 && rank >= Math.max(...distinct.map((row) => rankOf(row, spec))));
          for (const [row, adapter] of distinct.entries()) {
            for (let line = 0; line < height; line += 1) {
              for (let column = 0; column < width; column += 1) {
                const value = data[(row * height + line) * width + column];
                assert.equal(value, expected(adapter, spec, line, column));
              }
            }
          }
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('one projection of a high rank makes no other larger', () => {
  const feeds = new RowAdapters(TINY_CONFIG).feeds([randomAdapter(3, 500, 3, 3, 3, 3, 3), null]);
  const ranks = loraTensorSpecs(TINY_CONFIG, 1).map(({ name, matrix }) =>
    feeds[name]!.dims.at(matrix === 'A' ? -2 : -1),
  );
  assert.deepEqual(ranks.slice(0, 14), [8, 8, 504, 504, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]);
});

test('an adapter of full ranks that is alone, or everybody’s, is not copied', () => {
  for (const adapter of [FULL, FULL_HERE]) {
    for (const rows of [[adapter], [adapter, adapter, adapter]]) {
      const feeds = new RowAdapters(TINY_CONFIG).feeds(rows);
      for (const [name, { data }] of adapter.matrices) {
        assert.equal((feeds[name]!.data as Float32Array).buffer, data.buffer);
      }
    }
  }
});

test('a projection that is not adapted is scored with zeros', () => {
  const feeds = sharedAdapterFeeds(FULL_HERE, TINY_CONFIG);
  for (const { name, shape } of loraTensorSpecs(TINY_CONFIG, 1)) {
    const own = FULL_HERE.matrices.get(name);
    assert.deepEqual(feeds[name]!.dims, own?.shape ?? shape);
    assert.deepEqual(feeds[name]!.data, own?.data ?? new Float32Array(shape[0] * shape[1]));
  }
});

test('the stacks of admitted rows stay within the bound, and are reported before they are made', () => {
  const sizeOf = (rows: readonly (LoadedAdapter | null)[]): number => {
    const sizes: number[] = [];
    new RowAdapters(TINY_CONFIG, { maxBytes: 0, resizeStacks: (bytes) => sizes.push(bytes) }).feeds(rows);
    return sizes.at(-1) ?? 0;
  };
  const [small, other, large] = [randomAdapter(3), randomAdapter(2), randomAdapter(17)];
  // Each is computed alone before it is in the batch.
  const maxBytes = sizeOf([large]) + sizeOf([small, large]);
  let bytes = 0;
  const budget: StackBudget = {
    maxBytes,
    resizeStacks: (size) => {
      bytes = size;
    },
  };
  const stacks = new RowAdapters(TINY_CONFIG, budget);
  const admitted: (LoadedAdapter | null)[][] = [];
  const row = fc.constantFrom(null, small, other, large, FULL);
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
      const alone = Math.max(...rows.map((one) => (one === null ? 0 : sizeOf([one]))));
      const fits = alone + (new Set(rows).size > 1 ? sizeOf(rows) : 0) <= maxBytes;
      assert.equal(stacks.admits(rows), fits || rows.length === 1);
      if (!fits) return;
      admitted.push(rows);
      for (const used of [...rows.map((one) => [one]), rows]) {
        if (used.every((one) => one === null)) continue;
        stacks.feeds(used);
        assert.ok(bytes <= maxBytes, `${bytes} of ${maxBytes} bytes`);
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(admitted.some((rows) => rows.length > 1 && rows.includes(large)));
  assert.ok(!stacks.admits([small, other, large]));
});
