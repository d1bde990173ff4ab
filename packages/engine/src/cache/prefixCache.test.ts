import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PrefixCache, prefixKeys } from './prefixCache.js';

const tokens = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const state = (): Float32Array => new Float32Array(10);
const stateBytes = 40;

test('there is a key for every whole chunk, and always a token left to read', () => {
  const scope = { isolationKey: 'a', adapterHash: null };
  assert.deepEqual(
    [0, 1, 4, 5, 8, 9].map((count) => prefixKeys(scope, tokens(count), 4).length),
    [0, 0, 0, 1, 1, 2],
  );
  const [first, second] = prefixKeys(scope, tokens(9), 4);
  assert.deepEqual(prefixKeys(scope, [...tokens(8), 99, 100], 4), [first, second]);
});

test('a key changes with the scope and with every token before its end', () => {
  const scopes = [
    { isolationKey: 'a', adapterHash: null },
    { isolationKey: 'b', adapterHash: null },
    { isolationKey: 'a', adapterHash: 'b' },
    { isolationKey: 'a', adapterHash: 'null' },
    { isolationKey: 'a","b', adapterHash: null },
  ];
  const keys = scopes.flatMap((scope) => [...prefixKeys(scope, tokens(9), 4)]);
  const changed = tokens(8).map((place) => prefixKeys(scopes[0]!, tokens(9).with(place, 77), 4).at(-1)!);
  assert.equal(new Set([...keys, ...changed]).size, keys.length + changed.length);
  // The tokens 1, 23 and the tokens 12, 3 have the same digits in a row.
  assert.notDeepEqual(prefixKeys(scopes[0]!, [1, 23, 0], 2), prefixKeys(scopes[0]!, [12, 3, 0], 2));
});

test('the bound holds, the least recently used goes first, and of a prompt its end', () => {
  const cache = new PrefixCache(4 * stateBytes);
  const [a, b] = ['a', 'b'].map((isolationKey) => prefixKeys({ isolationKey, adapterHash: null }, tokens(9), 4));
  const fill = (keys: readonly string[]): void =>
    keys.forEach((_, index) => cache.add(keys.slice(0, index + 1), state()));
  fill(a!);
  fill(b!);
  assert.deepEqual([cache.find(a!).length, cache.find(b!).length], [2, 2]);
  assert.equal(cache.find(a!).length, 2);
  cache.add(['c'], state());
  assert.deepEqual([cache.find(b!).length, cache.find(a!).length], [1, 2]);
  cache.add(['too large'], new Float32Array(41));
  assert.deepEqual([cache.find(['too large']).length, cache.bytes], [0, 4 * stateBytes]);
});

test('whatever is added, no more is held than the bound, and what is found is what was added', () => {
  const additions = fc.array(fc.record({ path: fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), size: fc.nat(6) }));
  fc.assert(
    fc.property(additions, fc.nat(60), (list, maxBytes) => {
      const cache = new PrefixCache(maxBytes);
      const added = new Map<string, Float32Array>();
      for (const { path, size } of list) {
        const keys = path.map((_, index) => path.slice(0, index + 1).join());
        const data = new Float32Array(size);
        if (data.byteLength <= maxBytes) added.set(keys.at(-1)!, data);
        cache.add(keys, data);
        assert.ok(cache.bytes <= maxBytes);
        cache.find(keys).forEach((found, index) => assert.equal(found, added.get(keys[index]!)));
      }
    }),
  );
});
