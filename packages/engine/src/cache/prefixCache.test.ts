import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chunkEnd, PrefixCache, prefixChunks, type PrefixScope } from './prefixCache.js';

const tokens = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const state = (): Float32Array => new Float32Array(10);
const stateBytes = 40;

const prefixKeys = (scope: PrefixScope, list: readonly number[], chunkTokens: number): string[] =>
  prefixChunks(scope, list, 0, chunkTokens).map(({ key }) => key);

test('there is a key for every whole chunk, and always a token left to read', () => {
  const scope = { isolationKey: 'a', adapterHash: null };
  assert.deepEqual(
    [0, 1, 4, 5, 8, 9].map((count) => prefixKeys(scope, tokens(count), 4).length),
    [0, 0, 0, 1, 1, 2],
  );
  const [first, second] = prefixKeys(scope, tokens(9), 4);
  assert.deepEqual(prefixKeys(scope, [...tokens(8), 99, 100], 4), [first, second]);
});

test('a chunk ends where the shared beginning does, and chunks are counted anew from there', () => {
  const endsOf = (sharedTokens: number, count: number): number[] =>
    prefixChunks({ isolationKey: 'a', adapterHash: null }, tokens(count), sharedTokens, 4).map(({ end }) => end);
  assert.deepEqual(endsOf(0, 13), [4, 8, 12]);
  assert.deepEqual(endsOf(6, 13), [4, 6, 10]);
  assert.deepEqual(endsOf(8, 13), [4, 8, 12]);
  assert.deepEqual(endsOf(3, 13), [3, 7, 11]);
  assert.deepEqual(endsOf(13, 13), [4, 8, 12], 'the whole prompt is shared');
  assert.deepEqual(
    [0, 3, 4, 5, 6, 9, 10].map((start) => chunkEnd(start, 6, 4)),
    [4, 4, 6, 6, 10, 10, 14],
  );
});

test('chunks before the shared beginning ends are found with and without it, and later ones are not', () => {
  const chunksOf = (sharedTokens: number) =>
    prefixChunks({ isolationKey: 'a', adapterHash: null }, tokens(20), sharedTokens, 4);
  const [whole, cut] = [chunksOf(0), chunksOf(6)];
  assert.equal(cut[0]?.key, whole[0]?.key);
  const others = new Set(whole.map(({ key }) => key));
  assert.ok(cut.slice(1).every(({ key }) => !others.has(key)));
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
    keys.forEach((_, index) => cache.add('', keys.slice(0, index + 1), state()));
  fill(a!);
  fill(b!);
  assert.deepEqual([cache.find(a!).length, cache.find(b!).length], [2, 2]);
  assert.equal(cache.find(a!).length, 2);
  cache.add('', ['c'], state());
  assert.deepEqual([cache.find(b!).length, cache.find(a!).length], [1, 2]);
  cache.add('', ['too large'], new Float32Array(41));
  assert.deepEqual([cache.find(['too large']).length, cache.bytes], [0, 4 * stateBytes]);
});

test('what was kept for one key can be dropped, and nothing else', () => {
  const cache = new PrefixCache(4 * stateBytes);
  for (const isolationKey of ['a', 'b']) {
    cache.add(isolationKey, [`${isolationKey}1`], state());
    cache.add(isolationKey, [`${isolationKey}1`, `${isolationKey}2`], state());
  }
  cache.forget('a');
  assert.deepEqual([cache.find(['a1', 'a2']).length, cache.find(['b1', 'b2']).length], [0, 2]);
  assert.equal(cache.bytes, 2 * stateBytes);
  cache.forget('c');
  assert.equal(cache.bytes, 2 * stateBytes);
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
        cache.add('', keys, data);
        assert.ok(cache.bytes <= maxBytes);
        cache.find(keys).forEach((found, index) => assert.equal(found, added.get(keys[index]!)));
      }
    }),
  );
});
