import assert from 'node:assert/strict';
import test from 'node:test';
import { sameValue } from './sameValue.js';

test('strings are compared as answers are, and numbers may be strings', () => {
  assert.ok(sameValue('the Balcony door', 'balcony door'));
  assert.ok(sameValue('185', 185));
  assert.ok(sameValue(185, '185'));
  assert.ok(!sameValue('185 hours', 185));
  assert.ok(!sameValue(18, 185));
  assert.ok(!sameValue('Oslo, Bern', 'Oslo'));
  assert.ok(!sameValue('Berg', 'Anna Berg'));
});

test('of punctuation and empty strings nothing is left to compare, so they must be equal', () => {
  assert.ok(sameValue('*', '*') && sameValue('', ''));
  assert.ok(!sameValue('/', '*') && !sameValue('…', ''));
});

test('lists are compared in order, objects by their members', () => {
  assert.ok(sameValue(['a', 2], ['A', '2']));
  assert.ok(sameValue({ a: 1, b: { c: 'x' } }, { b: { c: 'X' }, a: 1 }));
  assert.ok(!sameValue([2, 'a'], ['a', 2]));
  assert.ok(!sameValue([1, 2, 3, 4], [1, 2, 3]));
  assert.ok(!sameValue({ a: 1, b: 2 }, { a: 1 }));
  assert.ok(!sameValue({ a: 1 }, { a: 1, b: 2 }));
  assert.ok(!sameValue({}, { constructor: 'Object' }));
});

test('a member that is null counts as left out', () => {
  assert.ok(sameValue({ a: 1 }, { a: 1, b: null }));
  assert.ok(sameValue({ a: 1, b: null }, { a: 1 }));
  assert.ok(!sameValue({ a: null }, { a: 1 }));
});

test('a value of another kind is another value', () => {
  assert.ok(sameValue(true, true) && sameValue(null, null));
  assert.ok(!sameValue('true', true));
  assert.ok(!sameValue(null, 'null'));
  assert.ok(!sameValue(['a'], 'a') && !sameValue('a', ['a']));
  assert.ok(!sameValue({}, []) && !sameValue([], {}));
});
