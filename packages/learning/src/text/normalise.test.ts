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
    ['minus twenty', '-20'],
    ['−€20', '-€20'],
    ['minus $5', '-$5'],
    ['10am', '10 am'],
    ['3:00 p.m.', '3 pm'],
    ['5kg', '5 kg'],
    ['20°C', '20 °C'],
    ['½', '1/2'],
    ['1½ cups', '1 1/2 cups'],
    ['.5 mg', '0.5 mg'],
    ['10⁶', '10^6'],
    ['20 m²', '20 m2'],
    ['CO₂', 'CO2'],
    ['5‰', '5 per mille'],
    ['12\u{202f}500', '12500'],
    ['$5 million', '5 million dollars'],
    ['20 €', '€20'],
    ['Smith & Sons', 'Smith and Sons'],
    ['3/4/2001', '3-4-2001'],
    ['2012/13', '2012–13'],
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
    ['A-', 'A'],
    ['A−', 'A'],
    ['-$500', '$500'],
    ['−€20', '€20'],
    ['-₹20', '₹20'],
    ['minus 20', '20'],
    ['€20', '$20'],
    ['.5 mg', '5 mg'],
    ['.300', '300'],
    ['3/4', '3-4'],
    ['½ cup', '1-2 cup'],
    ['10²', '102'],
    ['10⁻²', '10²'],
    ['2 × 10⁶', '2 × 106'],
    ['1½', '11/2'],
    ['5‰', '5%'],
    ['3 am', '3 pm'],
    ['3.10', '3.1'],
    ['Pelé', 'Pele'],
    ['B5G', 'B5 G'],
  ] as const) {
    assert.ok(!sameAnswer(a, b), `${a} ≠ ${b}`);
  }
});

test('numbers in words are read whole', () => {
  for (const [words, digits] of [
    ['two hundred and five', '205'],
    ['one thousand two hundred and five', '1205'],
    ['three hundred and five thousand', '305,000'],
    ['two million three hundred thousand', '2.3 million'],
    ['a million', '1 million'],
    ['half a million', '500,000'],
    ['1 trillion', '1,000,000,000,000'],
    ['-2 million', '-2,000,000'],
    ['one hundred and two hundred', '100 and 200'],
    ['between one hundred and five', 'between 100 and 5'],
    ['between one thousand and two hundred', 'between 1000 and 200'],
    ['of two hundred, five', 'of 200, 5'],
    ['two hundred and five and six', '205 and 6'],
    ['one hundred and 5', '100 and 5'],
    ['several million', 'several million'],
  ] as const) {
    assert.equal(normalise(words), normalise(digits));
  }
  assert.notEqual(normalise('several million'), normalise('several 1,000,000'));
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
      fc.constantFrom(' and ', 'a ', 'half ', 'between ', ' trillion', ' thousand', '&', '/', '½', '²', '⁻', '^'),
      fc.constantFrom('$', '€ ', ' €', '₹', ' dollars', ' euro', 'pm', ' am', 'kg', '°', '‰', 'per mille', '\u{a0}'),
    ),
  );
  fc.assert(fc.property(likely, (parts) => normalise(normalise(parts.join(''))) === normalise(parts.join(''))));
});

test('an answer agrees with few words more, but with no other number', () => {
  for (const answer of ['1.2', '1.2 kilograms in all', '$1.2']) assert.ok(agrees(answer, '1.2 kilograms'), answer);
  for (const answer of ['-1.2 kilograms', '1.2 to 3 kilograms', '12 kilograms'])
    assert.ok(!agrees(answer, '1.2 kilograms'), answer);
});

test('an answer does not agree with its denial', () => {
  for (const [a, b] of [
    ['not heated', 'heated'],
    ['allowed', 'not allowed'],
    ['no lift', 'lift'],
    ["isn't open", 'open'],
    ['A-', 'A'],
    ['5‰', '5%'],
  ] as const) {
    assert.ok(!agrees(a, b), `${a} ≠ ${b}`);
  }
  assert.ok(agrees('not heated at all', 'not heated'));
  assert.ok(agrees('No. 5', '5'));
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
