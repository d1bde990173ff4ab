import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepFeeds, type StepRow } from './stepFeeds.js';

const feeds = new StepFeeds();

function numbers(rows: readonly StepRow[]): Record<string, readonly number[]> {
  const { tensors } = feeds.forRows(rows);
  return Object.fromEntries(Object.entries(tensors).map(([name, { data }]) => [name, Array.from(data, Number)]));
}

test('several tokens of one sequence: where they end, and which is the last', () => {
  const rows = [{ tokens: [7, 8, 9], cachedTokens: 4 }];
  assert.deepEqual(numbers(rows), { ids: [7, 8, 9], ends: [6], length: [7], last: [2] });
  assert.deepEqual(feeds.forRows(rows).tensors['ids']?.dims, [1, 3]);
});

test('one token of several sequences: each ends at its own place', () => {
  const rows = [
    { tokens: [7], cachedTokens: 4 },
    { tokens: [5], cachedTokens: 0 },
  ];
  assert.deepEqual(numbers(rows), { ids: [7, 5], ends: [4, 0], length: [5], last: [0, 1] });
  assert.deepEqual(feeds.forRows(rows).tensors['ids']?.dims, [2, 1]);
});

test('runs of one shape have the same tensors, with the numbers of the run', () => {
  const first = feeds.forRows([{ tokens: [7, 8], cachedTokens: 9 }]);
  const second = feeds.forRows([{ tokens: [1, 2], cachedTokens: 0 }]);
  assert.equal(second, first);
  assert.deepEqual(numbers([{ tokens: [1, 2], cachedTokens: 0 }]), { ids: [1, 2], ends: [1], length: [2], last: [1] });
});

test('rows of unlike length are refused', () => {
  const rows = [
    { tokens: [7, 8], cachedTokens: 0 },
    { tokens: [5], cachedTokens: 0 },
  ];
  assert.throws(() => feeds.forRows(rows), RangeError);
});
