import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, pairedRatio, quantile, shuffled } from './statistics.mjs';

test('quantiles lie between the neighbouring values, whatever their order', () => {
  const values = [40, 10, 30, 20];
  assert.equal(median(values), 25);
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(quantile(values, 0), 10);
  assert.equal(quantile(values, 1), 40);
  assert.ok(Math.abs(quantile(values, 0.95) - 38.5) < 1e-9);
  // Sorted as text, 9 would be the greatest.
  assert.equal(median([9, 100, 11]), 11);
  assert.deepEqual(values, [40, 10, 30, 20], 'the values stay as they were');
  assert.throws(() => median([]));
});

test('a paired ratio is that of the pairs, not of the medians', () => {
  // Load that triples both times of the second half leaves the ratio alone.
  assert.equal(pairedRatio([10, 10, 30, 30], [5, 5, 15, 15]), 2);
  assert.equal(pairedRatio([10, 30, 20], [10, 10, 10]), 2);
  assert.throws(() => pairedRatio([1], [1, 2]));
});

test('shuffling keeps every value once and gives every order alike', () => {
  const values = Array.from({ length: 50 }, (_, index) => index);
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const mixed = shuffled(values, random);
  assert.notDeepEqual(mixed, values);
  assert.deepEqual(
    mixed.toSorted((a, b) => a - b),
    values,
  );
  const firsts = new Map();
  for (let round = 0; round < 3000; round += 1) {
    const order = shuffled(['a', 'b', 'c'], random).join('');
    firsts.set(order, (firsts.get(order) ?? 0) + 1);
  }
  assert.equal(firsts.size, 6);
  for (const [order, count] of firsts) assert.ok(count > 400 && count < 600, `${order}: ${count} of 3000`);
});
