import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingsOf, type Openings } from './openings.js';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from '../spans/spans.js';

function openings(text: string, answer: string): Openings {
  const [sentence] = sentencesOf(text);
  if (sentence === undefined) throw new Error('no sentence');
  const span = findSpans(sentence, text).find((found) => found.text === answer);
  if (span === undefined) throw new Error(`${answer} is no span`);
  const [before, after] = [text.slice(0, span.start), text.slice(span.end)];
  return openingsOf(span, { before, after });
}

test('when, where, who and why, by the word before the answer', () => {
  const usual = (text: string, answer: string): readonly string[] => openings(text, answer).usual;
  assert.deepEqual(usual('The shop is open until Tuesday.', 'Tuesday'), ['When', 'Until when', 'On which day']);
  assert.deepEqual(usual('She has run it since 1994.', '1994'), [
    'When',
    'Since when',
    'In which year',
    'In what year',
  ]);
  assert.deepEqual(usual('The bus leaves at 6:45 every day.', '6:45'), ['When', 'At what time', 'At what hour']);
  assert.deepEqual(usual('It is shut in May.', 'May'), ['When', 'In which month', 'In what month']);
  assert.deepEqual(usual('It was shut on 3 May.', '3 May'), ['When', 'On which day', 'On what date']);
  assert.deepEqual(usual('The wreck lies off Tamsin.', 'Tamsin'), ['Where', 'In which place', 'What']);
  assert.deepEqual(usual('The bridge was designed by Ada Kell.', 'Ada Kell'), ['Who', 'By whom', 'What']);
  for (const text of [
    'In 1987 Mira Voss founded the club.',
    'At noon Mira Voss opened the doors.',
    'He works in the shop with Mira Voss.',
    'It was built in 1994 for Mira Voss.',
  ]) {
    assert.deepEqual(usual(text, 'Mira Voss'), ['Who', 'What'], text);
  }
  assert.deepEqual(usual('The letter from Ada arrived on Tuesday.', 'Tuesday'), ['When', 'On which day']);
  assert.deepEqual(usual('The yard is shut because the key was lost.', 'the key was lost'), ['Why']);
});

test('what the sentence calls the answer, and what kind of thing that is', () => {
  const naming = (text: string, answer: string): readonly string[] => openings(text, answer).naming;
  assert.ok(naming('The letters were kept by her niece Berit.', 'Berit').includes('Which niece'));
  assert.ok(naming('The letters were kept by her niece Berit.', 'Berit').includes('Which relative'));
  assert.ok(naming('She was taught by Ola Finn, a retired butcher who sang.', 'Ola Finn').includes('Which butcher'));
  assert.ok(naming('He works in the town of Trondvik.', 'Trondvik').includes('Which town'));
  assert.ok(naming('He works in the town of Trondvik.', 'Trondvik').includes('In which town'));
  assert.ok(naming('The fair takes place on Church Field.', 'Church Field').includes('On which field'));
  assert.ok(naming('All boxes stand on the lower shelf.', 'lower shelf').includes('Which shelf'));
  assert.ok(naming('The club bought a trombone.', 'trombone').includes('Which instrument'));
  assert.ok(naming('Complaints go to Captain Wolfe.', 'Captain Wolfe').includes('Which captain'));
  assert.ok(naming('He speaks German at home.', 'German').includes('Which language'));
});

test('nothing that is no noun, and nothing that a person only does, names an answer', () => {
  const naming = (text: string, answer: string): readonly string[] => openings(text, answer).naming;
  assert.deepEqual(naming('The smith saw Ola Finn.', 'Ola Finn'), []);
  assert.deepEqual(naming('In Trondvik, the library is closed.', 'Trondvik'), []);
  assert.deepEqual(naming('The village was led by Maud Cook.', 'Maud Cook'), []);
  assert.ok(!naming('She was taught by Ola Finn, a retired butcher who sang.', 'Ola Finn').includes('Which trade'));
  assert.deepEqual(naming('The door was painted dark green.', 'dark green'), ['Which colour', 'Which shade']);
});

test('what a quantity measures decides how it is asked for', () => {
  const usual = (text: string, answer: string): readonly string[] => openings(text, answer).usual;
  assert.deepEqual(usual('Each plot is 150 square metres large.', '150 square metres'), ['How large', 'What size']);
  assert.deepEqual(usual('The tower is 40 metres high.', '40 metres'), ['How high', 'What height']);
  assert.ok(usual('The limit is 20 miles an hour.', '20 miles').includes('How fast'));
  assert.ok(usual('It goes 80 km per hour.', '80 km').includes('How fast'));
  assert.ok(usual('He pays 20 dollars per hour.', '20 dollars').includes('How much'));
  assert.deepEqual(usual('They climbed a 40-metre-high tower.', '40-metre'), ['How high', 'What height']);
  assert.ok(usual('The oven reaches 250 degrees.', '250 degrees').includes('What temperature'));
  assert.ok(usual('The club has 84 plots.', '84 plots').includes('What number of plots'));
});

test('a number alone may be an age', () => {
  const usual = (text: string, answer: string): readonly string[] => openings(text, answer).usual;
  assert.deepEqual(usual('He stopped at the age of fifty-two.', 'fifty-two'), ['How old', 'At what age', 'What age']);
  assert.ok(usual('She left school at thirteen.', 'thirteen').includes('How old'));
  assert.ok(usual('She left school at thirteen.', 'thirteen').includes('What number'));
  assert.ok(!usual('She lives at 12 metres.', '12 metres').includes('How old'));
  assert.ok(!usual('She has seven.', 'seven').includes('How old'));
});
