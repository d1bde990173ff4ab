import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindsOf } from './kinds.js';

test('a noun, in the singular or the plural, is of the kinds that people ask by', () => {
  assert.deepEqual(kindsOf('nephew'), ['relative', 'relation', 'family member']);
  assert.deepEqual(kindsOf('nephews'), kindsOf('nephew'));
  for (const kind of ['wood', 'tree', 'material']) assert.ok(kindsOf('oak').includes(kind), kind);
  assert.deepEqual(kindsOf('zebrawood'), []);
  assert.deepEqual(kindsOf(''), []);
});

test('no kind is a member of itself, and every list has the form that is read', () => {
  for (const word of ['coffee', 'salt', 'gold', 'watch', 'chicken', 'tea', 'diary', 'robin', 'hammer', 'measles']) {
    const kinds = kindsOf(word);
    assert.ok(kinds.length > 0 && !kinds.includes(word), `${word}: ${kinds.join()}`);
    for (const kind of kinds) assert.match(kind, /^\p{Ll}[\p{Ll}\p{P} -]*$/u);
  }
});
