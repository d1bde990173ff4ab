import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundsName } from '../model/cachedOperations.js';
import { TINY_CONFIG } from '../testing/fixtures.js';
import { stepFeeds } from './stepFeeds.js';

const row = fc.record({
  tokens: fc.array(fc.nat(99), { minLength: 1, maxLength: 6 }),
  cachedTokens: fc.nat(9),
});

test('a new token sees what came before it within its window, and itself', () => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 4 }),
      fc.option(fc.integer({ min: 1, max: 12 })),
      fc.nat(5),
      (rows, window, more) => {
        const capacity = Math.max(1, ...rows.map(({ cachedTokens }) => cachedTokens)) + more;
        const config = { ...TINY_CONFIG, layerWindows: Array.from({ length: TINY_CONFIG.layers }, () => window) };
        const bounds = stepFeeds(config, rows, capacity)[boundsName(window)];
        const width = Math.max(...rows.map(({ tokens }) => tokens.length));
        const keys = capacity + width;
        assert.deepEqual(bounds?.dims, [rows.length, 1, width, keys]);
        for (const [index, { cachedTokens, tokens }] of rows.entries()) {
          for (let query = 0; query < tokens.length; query += 1) {
            const place = cachedTokens + query;
            const start = (index * width + query) * keys;
            for (let key = 0; key < keys; key += 1) {
              const isEmpty = key >= cachedTokens && key < capacity;
              const keyPlace = key < capacity ? key : cachedTokens + key - capacity;
              const isSeen = !isEmpty && keyPlace <= place && place - keyPlace < (window ?? Infinity);
              assert.equal(bounds.data[start + key], isSeen ? Infinity : Math.fround(-1e9), `${key} from ${place}`);
            }
          }
        }
      },
    ),
  );
});

test('rows of different lengths are filled up, with places of their own and the last of their tokens', () => {
  const rows = [
    { tokens: [7, 8, 9], cachedTokens: 4 },
    { tokens: [5], cachedTokens: 0 },
  ];
  const feeds = stepFeeds(TINY_CONFIG, rows, 64);
  const numbers = (name: string): number[] => Array.from(feeds[name]?.data ?? [], Number);
  assert.deepEqual(numbers('ids'), [7, 8, 9, 5, 0, 0]);
  assert.deepEqual(numbers('positions'), [4, 5, 6, 0, 1, 2]);
  assert.deepEqual(numbers('last'), [2, 3]);
  assert.deepEqual(numbers('lengths'), [64, 3]);
});

test('layers with different windows have bounds of their own', () => {
  const layerWindows = Array.from({ length: TINY_CONFIG.layers }, (_, layer) => (layer === 0 ? 3 : null));
  const feeds = stepFeeds({ ...TINY_CONFIG, layerWindows }, [{ tokens: [1], cachedTokens: 5 }], 8);
  const seen = (name: string): number =>
    Array.from(feeds[name]?.data ?? [], Number).filter((value) => value > 0).length;
  assert.deepEqual([seen('bounds.3'), seen('bounds')], [3, 6]);
});
