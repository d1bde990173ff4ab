import assert from 'node:assert/strict';
import test from 'node:test';
import { givesValues } from './givesValues.js';

test('an object gives the expected values, whatever their types and the words around them', () => {
  assert.ok(givesValues({ item: 'the red bicycle', price: 250 }, { item: 'bicycle', price: '250' }));
  assert.ok(givesValues({ price: '250 euros', colour: 'red' }, { price: '250' }));
  assert.ok(givesValues({ time: '07:00' }, { time: ['7 am', '07:00'] }));
  assert.ok(givesValues({ list: ['a', 'b'] }, { list: '["a","b"]' }));
});

test('an object with a wrong value, or without a key, does not', () => {
  assert.ok(!givesValues({ city: 'Velona' }, { city: 'Oslo' }));
  assert.ok(!givesValues({ town: 'Oslo' }, { city: 'Oslo' }));
  assert.ok(!givesValues({ city: null }, { city: 'Oslo' }));
  assert.ok(!givesValues({ city: '' }, { city: 'Oslo' }));
  assert.ok(!givesValues({ count: 12 }, { count: '2' }));
});

test('names of inherited properties are no keys', () => {
  assert.ok(!givesValues({}, { constructor: 'Object' }));
});
