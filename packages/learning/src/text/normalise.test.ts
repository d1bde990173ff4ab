import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { givesAnswer } from './judge.js';
import { agrees, containsWords, normalise, sameAnswer, wordTokens } from './normalise.js';

test('case, punctuation, leading articles, number formats and white space do not matter', () => {
  for (const [a, b] of [
    ['The Orin Works.', 'orin works'],
    ['1,200 lamps', '1200 lamps'],
    ["O'Neill", 'O’Neill'],
    ['twenty-two  hens', 'Twenty two hens'],
    ['6:30 a.m.', '6:30 am'],
    ['35%', '35 per cent'],
    ['3,5 kg', '3.5 kg'],
    ['5,10,15', '5, 10, 15'],
    ['"Pepper"', 'Pepper'],
    ['twelve minutes', '12 minutes'],
    ['Twenty-two', '22'],
    ['2.8 million euros', '2,800,000 euros'],
    ['three hundred thousand', '300,000'],
    ['−20 °C', '-20 °C'],
  ] as const) {
    assert.ok(sameAnswer(a, b), `${a} = ${b}`);
  }
});

test('what carries meaning stays', () => {
  for (const [a, b] of [
    ['1.5 km', '15 km'],
    ['$49', '49'],
    ['Vitamin A', 'Vitamin'],
    ['9:30', '930'],
    ['3,5', '35'],
    ['twenty', 'twenty-two'],
    ['room 007', 'room 7'],
    ['ninety', 'nine'],
    ['-20 °C', '20 °C'],
    ['C#', 'C'],
  ] as const) {
    assert.ok(!sameAnswer(a, b), `${a} ≠ ${b}`);
  }
});

test('a part of a number with a decimal comma is another number', () => {
  assert.ok(!givesAnswer('Wie schwer ist es?', 'Es wiegt 3,5 kg.', ['5 kg']));
  assert.ok(!givesAnswer('Was kostet es?', 'Es kostet 1.250,50 Euro.', ['50 Euro']));
  assert.ok(givesAnswer('Was kostet es?', 'Es kostet 1.250,50 Euro.', ['1.250,50 Euro']));
});

test('normalising twice is normalising once', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => normalise(normalise(text)) === normalise(text)));
  const likely = fc.array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'the ',
        'A. ',
        '.',
        ',',
        '1',
        '234',
        "'",
        '%',
        ' ',
        ':',
        '-',
        '−',
        '#',
        'minus ',
        'é',
        'per cent',
      ),
      fc.constantFrom('one ', 'twenty ', 'two', ' million', ' hundred', '2.8 ', '0', 'zero '),
    ),
  );
  fc.assert(fc.property(likely, (parts) => normalise(normalise(parts.join(''))) === normalise(parts.join(''))));
});

test('an answer agrees with few words more, but with no other number', () => {
  for (const answer of ['1.2', '1.2 kilograms in all', '$1.2']) assert.ok(agrees(answer, '1.2 kilograms'), answer);
  for (const answer of ['-1.2 kilograms', '1.2 to 3 kilograms', '12 kilograms'])
    assert.ok(!agrees(answer, '1.2 kilograms'), answer);
});

test('words are compared whole', () => {
  assert.ok(containsWords('It was Maria Ochoa who came.', 'maria ochoa'));
  assert.ok(!containsWords('The category is open.', 'cat'));
  assert.ok(!containsWords('Anything', '?'));
  assert.deepEqual(wordTokens('Costs $1.50, twice.'), ['costs', '1.50', 'twice']);
});

test('answers agree when they are equal, or one is the other with a few words more', () => {
  assert.ok(agrees('1.2', '1.2 kilograms'));
  assert.ok(agrees('Dr. Maria Ochoa', 'Maria Ochoa'));
  assert.ok(!agrees('12 hours', '12 hours and 30 minutes'));
  assert.ok(!agrees('Porto', 'Lisbon'));
});
