import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TINY_CONFIG } from '../testing/fixtures.js';
import { bytesPerToken, KvCache } from './kvCache.js';

/** A fault injector: there is memory for so many buffers. */
class ShortCache extends KvCache {
  static buffersLeft = Infinity;

  protected override allocate(slots: number, capacity: number): Float32Array {
    if (ShortCache.buffersLeft === 0) throw new RangeError('Array buffer allocation failed');
    ShortCache.buffersLeft -= 1;
    return super.allocate(slots, capacity);
  }
}

test('a cache that could not be resized as a whole is made anew', () => {
  const cache = new ShortCache(TINY_CONFIG);
  const state = new Float32Array(bytesPerToken(TINY_CONFIG) / Float32Array.BYTES_PER_ELEMENT).fill(1);
  cache.reserve(64, 1);
  ShortCache.buffersLeft = 1;
  assert.throws(() => cache.reserve(1000, 1), /allocation failed/);
  assert.equal(cache.tokens, 0);
  ShortCache.buffersLeft = Infinity;
  cache.reserve(64, 1, 0);
  assert.equal(cache.tokens, 64);
  assert.ok(cache.write(0, 63, state, 0, 1));
  for (const { dims, data } of Object.values(cache.view(1))) {
    const [, heads = 0, tokens = 0, width = 0] = dims;
    assert.deepEqual([tokens, data.length], [64, heads * 64 * width]);
    const written = Array.from(data as Float32Array).reduce((sum, value) => sum + value, 0);
    assert.equal(written, heads * width);
  }
});
