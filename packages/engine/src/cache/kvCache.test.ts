import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinyConfig } from '../testing/fixtures.js';
import { sum } from '../support/numbers.js';
import { bytesPerToken, KvCache, noContents } from './kvCache.js';

/** A fault injector: memory runs out after a given number of buffers. */
class ShortCache extends KvCache {
  static buffersLeft = Infinity;

  protected override allocate(slots: number, capacity: number): Float32Array {
    if (ShortCache.buffersLeft === 0) throw new RangeError('Array buffer allocation failed');
    ShortCache.buffersLeft -= 1;
    return super.allocate(slots, capacity);
  }
}

test('a cache that could not be resized as a whole is made anew', () => {
  const cache = new ShortCache(tinyConfig);
  const state = new Float32Array(bytesPerToken(tinyConfig) / Float32Array.BYTES_PER_ELEMENT).fill(1);
  cache.reserve(64, 1, noContents);
  ShortCache.buffersLeft = 1;
  assert.throws(() => cache.reserve(1000, 1, { slots: 1, tokens: 64 }), /allocation failed/);
  assert.equal(cache.tokens, 0);
  ShortCache.buffersLeft = Infinity;
  cache.reserve(64, 1, noContents);
  assert.equal(cache.tokens, 64);
  cache.write(0, 63, state);
  assert.deepEqual(cache.read(0, 63, 1), state);
  for (const { dims, data } of Object.values(cache.view(1).past.tensors)) {
    const [, heads = 0, tokens = 0, width = 0] = dims;
    assert.deepEqual([tokens, data.length], [64, heads * 64 * width]);
    const written = sum(Array.from(data as Float32Array));
    assert.equal(written, heads * width);
  }
});

test('what is kept is there in a larger cache and in a smaller one, and nothing else is copied', () => {
  const cache = new KvCache(tinyConfig);
  const size = bytesPerToken(tinyConfig) / Float32Array.BYTES_PER_ELEMENT;
  const state = (tokens: number, first: number): Float32Array =>
    Float32Array.from({ length: tokens * size }, (_, index) => first + index);
  cache.reserve(100, 3, noContents);
  const states = [0, 1, 2].map((slot) => state(70, 1000 * slot));
  states.forEach((each, slot) => cache.write(slot, 0, each));
  for (const [tokens, slots] of [
    [700, 5],
    [80, 2],
  ] as const) {
    cache.reserve(tokens, slots, { slots: 2, tokens: 70 });
    for (const slot of [0, 1]) assert.deepEqual(cache.read(slot, 0, 70), states[slot]);
  }
  cache.reserve(700, 4, { slots: 2, tokens: 70 });
  assert.ok(cache.read(0, 70, 30).every((value) => value === 0));
  assert.ok(cache.read(2, 0, 70).every((value) => value === 0));
});
