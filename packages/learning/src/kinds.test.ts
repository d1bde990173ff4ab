import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kindsOf } from './kinds.js';

test('a noun, in the singular or the plural, is of the kinds that people ask by', () => {
  assert.deepEqual(kindsOf('nephew'), ['relative']);
  assert.deepEqual(kindsOf('nephews'), ['relative']);
  assert.deepEqual(kindsOf('oak'), ['wood', 'tree']);
  assert.deepEqual(kindsOf('zebrawood'), []);
  assert.deepEqual(kindsOf(''), []);
});
