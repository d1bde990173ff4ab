import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingsOf, type Openings } from './openings.js';
import { sentencesOf } from './sentences.js';
import { findSpans } from './spans.js';

function openings(text: string, answer: string): Openings {
  const [sentence] = sentencesOf(text);
  if (sentence === undefined) throw new Error('no sentence');
  const span = findSpans(sentence, text).find((found) => found.text === answer);
  if (span === undefined) throw new Error(`${answer} is no span`);
  const before = sentence.text.slice(0, span.start - sentence.start).match(/\p{L}+/gu) ?? [];
  return openingsOf(span, { before, after: sentence.text.slice(span.end - sentence.start) });
}

test('when, where, who and why, by the word before the answer', () => {
  const usual = (text: string, answer: string): readonly string[] => openings(text, answer).usual;
  assert.deepEqual(usual('The shop is open until Tuesday.', 'Tuesday'), ['When', 'Until when', 'On which day']);
  assert.deepEqual(usual('She has run it since 1994.', '1994'), ['When', 'Since when', 'In which year']);
  assert.deepEqual(usual('The bus leaves at 6:45 every day.', '6:45'), ['When', 'At what time']);
  assert.deepEqual(usual('The wreck lies off Tamsin.', 'Tamsin'), ['Where', 'What']);
  assert.deepEqual(usual('The bridge was designed by Ada Kell.', 'Ada Kell'), ['Who', 'By whom', 'What']);
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
});

test('what a quantity measures decides how it is asked for', () => {
  const usual = (text: string, answer: string): readonly string[] => openings(text, answer).usual;
  assert.deepEqual(usual('Each plot is 150 square metres large.', '150 square metres'), ['How large', 'What size']);
  assert.deepEqual(usual('The tower is 40 metres high.', '40 metres'), ['How high', 'What height']);
  assert.ok(usual('The limit is 20 miles an hour.', '20 miles').includes('How fast'));
  assert.ok(usual('The oven reaches 250 degrees.', '250 degrees').includes('What temperature'));
  assert.ok(usual('The club has 84 plots.', '84 plots').includes('What number of plots'));
});
