import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loraTensorSpecs, type LoraTensorSpec } from '../model/weights.js';
import { createRandom } from '../random.js';
import { TINY_CONFIG } from '../testing/fixtures.js';
import { prepareAdapter, type LoadedAdapter } from './loadedAdapter.js';
import { RowAdapters, sharedAdapterFeeds, type StackBudget } from './adapterFeeds.js';

interface TestAdapter extends LoadedAdapter {
  /** As they were before they were made ready. */
  readonly given: LoadedAdapter['matrices'];
}

/** @param ranks of the projections of every layer, in turns; 0 for one that is not adapted. */
function randomAdapter(...ranks: readonly number[]): TestAdapter {
  const random = createRandom(ranks.length);
  const entries = loraTensorSpecs(TINY_CONFIG, 1).flatMap(({ name, matrix, shape: [height, width] }, index) => {
    const rank = ranks[(index >> 1) % ranks.length]!;
    if (rank === 0) return [];
    const shape = matrix === 'A' ? [rank, width] : [height, rank];
    const data = Float32Array.from({ length: shape[0]! * shape[1]! }, () => random.next());
    return [[name, { shape, data }] as const];
  });
  const given = new Map(entries);
  return { ...prepareAdapter(ranks.join(), { rank: 1, alpha: 1, matrices: given }), given };
}

const FULL = randomAdapter(8);
const FULL_HERE = randomAdapter(8, 0, 16);
const ADAPTERS = [null, FULL, FULL_HERE, randomAdapter(1), randomAdapter(2), randomAdapter(9), randomAdapter(0, 3, 17)];

function rankOf(adapter: TestAdapter | null, { name, matrix }: LoraTensorSpec): number {
  return adapter?.given.get(name)?.shape[matrix === 'A' ? 0 : 1] ?? 0;
}

/** Number by number: what a row's matrix must hold at a place of the padded rank. */
function expected(adapter: TestAdapter | null, spec: LoraTensorSpec, row: number, column: number): number {
  if (adapter === null || (spec.matrix === 'A' ? row : column) >= rankOf(adapter, spec)) return 0;
  const { shape, data } = adapter.given.get(spec.name)!;
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

test('an adapter that is alone, or everybody’s, is not copied, whatever its ranks', () => {
  const rowAdapters = new RowAdapters(TINY_CONFIG);
  for (const adapter of ADAPTERS.filter((one) => one !== null)) {
    const alone = rowAdapters.feeds([adapter]);
    assert.equal(rowAdapters.feeds([adapter, adapter, adapter]), alone);
    for (const [name, { data }] of adapter.matrices) {
      assert.equal((alone[name]!.data as Float32Array).buffer, data.buffer);
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
  let bytes = 0;
  const stacksWithin = (maxBytes: number): RowAdapters => {
    const resizeStacks = (size: number): void => void (bytes = size);
    return new RowAdapters(TINY_CONFIG, { maxBytes, resizeStacks } satisfies StackBudget);
  };
  const sizeOf = (rows: readonly (LoadedAdapter | null)[]): number => {
    bytes = 0;
    stacksWithin(0).feeds(rows);
    return bytes;
  };
  const [small, other, large] = [randomAdapter(3), randomAdapter(2), randomAdapter(17)];
  const maxBytes = sizeOf([small, large]);
  const stacks = stacksWithin(maxBytes);
  const admitted: (LoadedAdapter | null)[][] = [];
  const row = fc.constantFrom(null, small, other, large, FULL);
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
      const needed = new Set(rows).size > 1 ? sizeOf(rows) : 0;
      assert.equal(stacks.admits(rows), needed <= maxBytes);
      if (needed > maxBytes) return;
      admitted.push(rows);
      for (const used of [...rows.map((one) => [one]), rows]) {
        if (used.every((one) => one === null)) continue;
        bytes = 0;
        stacks.feeds(used);
        assert.ok(bytes <= maxBytes, `${bytes} of ${maxBytes} bytes`);
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(admitted.some((rows) => new Set(rows).size > 1 && rows.includes(large)));
  assert.ok(!stacks.admits([small, other, large]));
});
