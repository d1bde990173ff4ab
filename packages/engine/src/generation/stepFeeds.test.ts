import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepFeeds, type StepRow } from './stepFeeds.js';

function numbers(rows: readonly StepRow[]): Record<string, readonly number[]> {
  return Object.fromEntries(
    Object.entries(stepFeeds(rows)).map(([name, { data }]) => [name, Array.from(data, Number)]),
  );
}

test('several tokens of one sequence: where they end, and which is the last', () => {
  const rows = [{ tokens: [7, 8, 9], cachedTokens: 4 }];
  assert.deepEqual(numbers(rows), { ids: [7, 8, 9], ends: [6], length: [7], last: [2] });
  assert.deepEqual(stepFeeds(rows)['ids']?.dims, [1, 3]);
});

test('one token of several sequences: each ends at its own place', () => {
  const rows = [
    { tokens: [7], cachedTokens: 4 },
    { tokens: [5], cachedTokens: 0 },
  ];
  assert.deepEqual(numbers(rows), { ids: [7, 5], ends: [4, 0], length: [5], last: [0, 1] });
  assert.deepEqual(stepFeeds(rows)['ids']?.dims, [2, 1]);
});
