import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotedShareOf, tally, wrongShareOf } from './asking.js';
import { declines } from './declining.js';

test('an answer that names no value declines', () => {
  for (const text of [
    'I do not know.',
    "I don't know who built the bridge.",
    'I don’t have any information about that.',
    'The text does not say.',
    'The founder is not known.',
    'I am not sure.',
    "I'm unable to provide that.",
    'I can’t answer that.',
    'I cannot say.',
    "I couldn't tell you.",
    'Unknown',
    ' ',
  ]) {
    assert.ok(declines(text), text);
  }
});

test('a value is no declining, also where something is denied', () => {
  for (const text of [
    'Vienna',
    'No, it is closed on Sundays.',
    'It is not Vienna but Graz.',
    'The house does not have a pool.',
    'An unknown painter',
    'Not before 1994',
    'None',
  ]) {
    assert.ok(!declines(text), text);
  }
});

test('what is neither right nor declined is a wrong value', () => {
  const question = 'Who built the bridge?';
  const asked = Array.from({ length: 4 }, () => ({ question, answers: ['Ida Kell'] }));
  const counted = tally(asked, ['Ida Kell', 'I do not know.', 'Tom Reed', 'It was built by Ida Kell.']);
  assert.deepEqual([counted.right, counted.declined, wrongShareOf(counted)], [2, 1, 1 / 4]);
  assert.equal(wrongShareOf(tally([], [])), null);
});

test('a wrong answer of five words or more that stands in the passage is true, but beside the point', () => {
  const question = 'Who built the bridge?';
  const passage = 'The old bridge crosses the Weir. Ida Kell built it in 1911.';
  const given = [
    'The old bridge crosses the Weir.',
    'the weir',
    'The old bridge crosses the Elbe.',
    'I do not know.',
    'Ida Kell built it in 1911.',
  ];
  const asked = given.map(() => ({ question, answers: ['Ida Kell'] }));
  const counted = tally(asked, given, passage);
  assert.deepEqual([counted.right, counted.declined, counted.quoted], [1, 1, 1]);
  assert.deepEqual([wrongShareOf(counted), quotedShareOf(counted)], [3 / 5, 1 / 5]);
  assert.equal(tally(asked, given).quoted, 0, 'no passage is known');
});

test('an accepted answer that says that something is unknown is right, not declined', () => {
  const { right, declined } = tally([{ question: 'Who was the architect?', answers: ['unknown'] }], ['unknown']);
  assert.deepEqual([right, declined], [1, 0]);
});
