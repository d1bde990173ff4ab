import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loraTensorSpecs } from '../model/weights.js';
import { createRandom } from '../random.js';
import { TINY_CONFIG } from '../testing/fixtures.js';
import type { LoadedAdapter } from './adapterCache.js';
import { RowAdapters } from './adapterFeeds.js';

function randomAdapter(rank: number): LoadedAdapter {
  const random = createRandom(rank);
  const matrices = loraTensorSpecs(TINY_CONFIG, rank).map(({ name, shape }) => {
    return [name, { shape, data: Float32Array.from({ length: shape[0] * shape[1] }, () => random.next()) }] as const;
  });
  return { contentHash: `${rank}`, rank, matrices: new Map(matrices) };
}

const ADAPTERS = [null, ...[1, 2, 8, 9].map(randomAdapter)];

/** Number by number: what a row's matrix of this name must hold at a place of the padded rank. */
function expected(adapter: LoadedAdapter | null, name: string, matrix: 'A' | 'B', row: number, column: number): number {
  const rank = matrix === 'A' ? row : column;
  if (adapter === null || rank >= adapter.rank) return 0;
  const { shape, data } = adapter.matrices.get(name)!;
  return data[row * shape[1]! + column]!;
}

test('whatever batches came before, every row has its own matrices and zeros beyond its rank', () => {
  const batch = fc.array(fc.constantFrom(...ADAPTERS), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 6 }), (batches) => {
      const stacks = new RowAdapters(TINY_CONFIG);
      for (const rows of batches) {
        const feeds = stacks.feeds(rows);
        const greatest = Math.max(1, ...rows.map((row) => row?.rank ?? 0));
        const rank = greatest > 8 ? 16 : 8;
        for (const { name, matrix, shape } of loraTensorSpecs(TINY_CONFIG, rank).slice(0, 4)) {
          const { dims, data } = feeds[name]!;
          const shared = rows.every((row) => row === rows[0] && row !== null);
          assert.deepEqual(dims.slice(-3), [shared ? 1 : rows.length, ...shape]);
          const [height, width] = shape;
          const read = (row: number, line: number, column: number) => data[(row * height + line) * width + column];
          for (const [row, adapter] of rows.slice(0, shared ? 1 : rows.length).entries()) {
            for (let line = 0; line < height; line += 1) {
              for (let column = 0; column < width; column += 1) {
                assert.equal(read(row, line, column), expected(adapter, name, matrix, line, column));
              }
            }
          }
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('an adapter of a full rank that is alone, or everybody’s, is not copied', () => {
  const adapter = randomAdapter(8);
  for (const rows of [[adapter], [adapter, adapter, adapter]]) {
    const feeds = new RowAdapters(TINY_CONFIG).feeds(rows);
    for (const [name, { data }] of adapter.matrices)
      assert.equal((feeds[name]!.data as Float32Array).buffer, data.buffer);
  }
});
