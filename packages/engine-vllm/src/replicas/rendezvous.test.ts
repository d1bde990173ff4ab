import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inOrderOf } from './rendezvous.js';

const places = ['a', 'b', 'c', 'd'];
const keys = Array.from({ length: 400 }, (_, index) => `key ${index}`);
const orderOf = (key: string, among: readonly string[]) => inOrderOf(key, among, (place) => place);

test('gives every place a share of the keys', () => {
  for (const place of places) {
    const share = keys.filter((key) => orderOf(key, places)[0] === place).length;
    assert.ok(share > 50 && share < 150, `${place}: ${share}`);
  }
});

test('moves only the keys of a place that goes, to their next place', () => {
  for (const key of keys) {
    const order = orderOf(key, places);
    assert.deepEqual(
      orderOf(
        key,
        places.filter((place) => place !== 'b'),
      ),
      order.filter((place) => place !== 'b'),
    );
    assert.deepEqual(orderOf(key, places.toReversed()), order);
  }
});
