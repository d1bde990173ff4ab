import assert from 'node:assert/strict';
import test from 'node:test';
import { replayObjects } from '@engraft/learning/parts';
import { hasValues, objectTasks, type ExpectedValues } from './objectTasks.js';

test('no object that canaries ask for is one that training rehearses', () => {
  const rehearsed = replayObjects.map(([request]) => request.toLowerCase());
  assert.ok(rehearsed.length > 50);
  assert.deepEqual(
    objectTasks.filter(([text]) => rehearsed.some((request) => request.includes(text.toLowerCase()))),
    [],
  );
});

const accepted: readonly (readonly [text: string, given: object])[] = [
  ['bicycle', { item: 'Red bicycle', colour: 'red', price: '€250' }],
  ['bicycle', { item: 'the bicycle', colour: 'Red', price: '250 euros', currency: 'euro' }],
  ['Anna Berg', { name: 'Anna Berg', age: 34, city: 'Oslo' }],
  ['Anna Berg', { name: 'Anna Berg', age: '34 years', city: 'Oslo' }],
  ['cups of tea', { customer: 'Tom', drink: 'tea', count: 'two' }],
  ['museum', { opens: '09:00', closes: '17:00:00' }],
  ['museum', { opens: '9am', closes: '5pm' }],
  ['degrees', { city: 'Madrid', temperature: '23°C' }],
];

const refused: readonly (readonly [text: string, given: object])[] = [
  ['bicycle', { item: 'bicycle', colour: 'red', price: 25 }],
  ['bicycle', { item: 'bicycle', price: 250 }],
  ['Anna Berg', { name: 'Anna Berg', age: 34, city: 'Oslo, Bern, Riga' }],
  ['Anna Berg', { name: 'Berg', age: 34, city: 'Oslo' }],
  ['Anna Berg', { name: 'Anna Berg', age: '34 or 43', city: 'Oslo' }],
  ['museum', { opens: '9:00 pm', closes: '17:00' }],
  ['museum', { opens: '9:00', closes: ['17:00'] }],
  ['Anna Berg', { name: null, age: 34, city: 'Oslo' }],
];

function valuesOf(text: string): ExpectedValues {
  const task = objectTasks.find(([given]) => given.includes(text));
  assert.ok(task !== undefined, text);
  return task[1];
}

test('an object passes with the right values, however units and times are written', () => {
  for (const [text, given] of accepted) assert.ok(hasValues(given, valuesOf(text)), JSON.stringify(given));
});

test('an object with a wrong value, a missing one, or more than one does not pass', () => {
  for (const [text, given] of refused) assert.ok(!hasValues(given, valuesOf(text)), JSON.stringify(given));
});
