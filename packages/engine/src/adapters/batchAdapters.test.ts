import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LoraAdapter } from './loraAdapter.js';
import { loraGroups, type LoraGroup } from '../model/loraGroups.js';
import { loraTensorSpecs } from '../model/weights.js';
import { createRandom } from '../support/random.js';
import { tinyConfig } from '../testing/fixtures.js';
import { sum } from '../support/numbers.js';
import { prepareAdapter, type LoadedAdapter } from './loadedAdapter.js';
import { BatchAdapters, sharedAdapterFeeds, type StackBudget } from './batchAdapters.js';

interface TestAdapter extends LoadedAdapter {
  /** The matrices before `prepareAdapter`. */
  readonly given: LoraAdapter['matrices'];
}

/** @param ranks given to the projections in turn; 0 leaves a projection unadapted. */
function randomAdapter(...ranks: readonly number[]): TestAdapter {
  const random = createRandom(ranks.length);
  const entries = loraTensorSpecs(tinyConfig, 1).flatMap(({ name, matrix, shape: [height, width] }, index) => {
    const rank = ranks[(index >> 1) % ranks.length]!;
    if (rank === 0) return [];
    const shape = matrix === 'A' ? [rank, width] : [height, rank];
    const data = Float32Array.from({ length: shape[0]! * shape[1]! }, () => random.next());
    return [[name, { shape, data }] as const];
  });
  const given = new Map(entries);
  return { ...prepareAdapter(ranks.join(), { rank: 1, alpha: 1, matrices: given }, tinyConfig), given };
}

const full = randomAdapter(8);
const fullHere = randomAdapter(8, 0, 16);
const adapters = [null, full, fullHere, randomAdapter(1), randomAdapter(2), randomAdapter(9), randomAdapter(0, 3, 17)];

type Matrix = readonly (readonly number[])[];

function rowsOf(data: ArrayLike<number>, height: number, width: number, start = 0): number[][] {
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: width }, (__, column) => data[start + row * width + column]!),
  );
}

/** `B A` of each part in its place and zeros elsewhere, computed in plain loops from the given matrices. */
function expectedProduct(adapter: TestAdapter | null, group: LoraGroup): Matrix {
  return group.parts.flatMap(({ name, out }) => {
    const [a, b] = ['A', 'B'].map((matrix) => adapter?.given.get(`${name}.lora_${matrix}`));
    if (a === undefined || b === undefined) return rowsOf(new Float64Array(out * group.width), out, group.width);
    return product(rowsOf(b.data, out, b.shape[1]!), rowsOf(a.data, a.shape[0]!, group.width));
  });
}

function product(left: Matrix, right: Matrix): number[][] {
  return left.map((row) =>
    right[0]!.map((_, column) => row.reduce((sum, value, inner) => sum + value * right[inner]![column]!, 0)),
  );
}

test('whatever batches came before, every row has its own low-rank terms, and those of each projection in their place', () => {
  const batch = fc.array(fc.constantFrom(...adapters), { minLength: 1, maxLength: 5 });
  const groups = loraGroups(tinyConfig).slice(0, 4);
  fc.assert(
    fc.property(fc.array(batch, { minLength: 1, maxLength: 6 }), (batches) => {
      const stacks = new BatchAdapters(tinyConfig);
      for (const rows of batches.filter((some) => some.some((row) => row !== null))) {
        const feeds = stacks.feeds(rows).tensors;
        const shared = rows.every((row) => row === rows[0]);
        const distinct = shared ? rows.slice(0, 1) : rows;
        for (const group of groups) {
          const [a, b] = [feeds[`${group.name}.lora_A`]!, feeds[`${group.name}.lora_B`]!];
          const [count = 0, rank = 0, width = 0] = a.dims.slice(-3);
          const outs = sum(group.parts.map(({ out }) => out));
          assert.deepEqual([count, width], [distinct.length, group.width]);
          assert.deepEqual(b.dims, [1, 1, distinct.length, rank, outs]);
          assert.ok(rank > 0 && rank % 8 === 0);
          for (const [row, adapter] of distinct.entries()) {
            const transposed = rowsOf(b.data as Float32Array, rank, outs, row * outs * rank);
            const left = transposed[0]!.map((_, output) => transposed.map((line) => line[output]!));
            const right = rowsOf(a.data as Float32Array, rank, width, row * rank * width);
            assert.deepEqual(product(left, right), expectedProduct(adapter, group));
          }
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('one projection of a high rank makes no other larger', () => {
  const feeds = new BatchAdapters(tinyConfig).feeds([randomAdapter(3, 500, 3, 3, 3, 3, 3), null]).tensors;
  const ranks = loraGroups(tinyConfig).map(({ name }) => feeds[`${name}.lora_A`]!.dims.at(-2));
  assert.deepEqual(ranks.slice(0, 5), [8 + 504 + 8, 8, 8, 8, 8]);
});

test('an adapter that is alone, or everybody’s, is not copied, whatever its ranks', () => {
  const rowAdapters = new BatchAdapters(tinyConfig);
  for (const adapter of adapters.filter((one) => one !== null)) {
    const alone = rowAdapters.feeds([adapter]);
    assert.equal(rowAdapters.feeds([adapter, adapter, adapter]), alone);
    for (const [name, { a, b }] of adapter.groups) {
      assert.equal((alone.tensors[`${name}.lora_A`]!.data as Float32Array).buffer, a.buffer);
      assert.equal((alone.tensors[`${name}.lora_B`]!.data as Float32Array).buffer, b.buffer);
    }
  }
});

test('scoring takes each projection by itself, rounded up with zeros, and zeros for one that is not adapted', () => {
  for (const adapter of adapters.filter((one) => one !== null)) {
    const feeds = sharedAdapterFeeds(adapter, tinyConfig);
    for (const { name, matrix, shape } of loraTensorSpecs(tinyConfig, 1)) {
      const { dims, data } = feeds[name]!;
      const given = adapter.given.get(name);
      const up = (size: number): number => Math.ceil(size / 8) * 8;
      const [height, width] = given?.shape ?? shape;
      const rounded = matrix === 'A' ? [up(height!), width!] : [height!, up(width!)];
      assert.deepEqual(dims, given === undefined ? shape : rounded);
      const own = given === undefined ? [] : rowsOf(given.data, height!, width!);
      const padded = Array.from({ length: dims[0] }, (_, row) =>
        Array.from({ length: dims[1] }, (__, column) => own[row]?.[column] ?? 0),
      );
      assert.deepEqual(rowsOf(data as Float32Array, dims[0], dims[1]), padded);
    }
  }
});

test('the stacks of admitted rows stay within the bound, and are reported before they are made', () => {
  let bytes = 0;
  const stacksWithin = (maxBytes: number): BatchAdapters => {
    const resizeStacks = (size: number): void => void (bytes = size);
    return new BatchAdapters(tinyConfig, { maxBytes, resizeStacks } satisfies StackBudget);
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
  const row = fc.constantFrom(null, small, other, large, full);
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
