import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chunkPassage, saidSentences } from './chunk.js';
import { sentencesOf } from './sentences.js';

test('abbreviations and initials do not end a sentence', () => {
  const single = sentencesOf('There is none in L. Dr. Quist has M. The rest is gone.').map(({ text }) => text);
  assert.deepEqual(single, ['There is none in L. ', 'Dr. Quist has M. ', 'The rest is gone.']);
  const texts = sentencesOf('Dr. J. R. Silva came. He left at noon. "Why?" she asked.').map(({ text }) => text);
  assert.deepEqual(texts, ['Dr. J. R. Silva came. ', 'He left at noon. ', '"Why?" she asked.']);
});

test('a sentence may begin with code, in whatever case', () => {
  const parts = ['The default is `warn`. ', '`tidegate check` exits with 3. ', 'Set a level, e.g. `info`. ', '`x`?'];
  const texts = sentencesOf(parts.join('')).map(({ text }) => text);
  assert.deepEqual(texts, parts);
  // A figure before the full stop may be the number of a list's item.
  for (const whole of ['1. `npm ci` installs it.', 'It is fast, cf. `bench`.', 'The mark is a single `.']) {
    assert.deepEqual(sentencesOf(whole), [{ start: 0, end: whole.length, text: whole }]);
  }
});

test('dotted initials, German dates and abbreviations do not end a sentence', () => {
  const whole = [
    'The U.S. Army built the fort in 1858.',
    'J.R.R. Tolkien came by train.',
    'Die Fähre fährt ab dem 3. Mai 1987 täglich.',
    'Sie ist bunt, z. B. Rot und bzw. Grün.',
  ];
  for (const text of whole) assert.deepEqual(sentencesOf(text), [{ start: 0, end: text.length, text }]);
  for (const text of [
    'It is in the U.S. The house is old.',
    'He left at 5 P.M. Visitors stay.',
    'It began in 500 B.C. Rome grew.',
    'It has 3. June has 4.',
    'The rope is 5 m. The boat is red.',
    'The rope is 5 m. A. Silva made it.',
    'The team has plan b. Costs rise.',
  ])
    assert.equal(sentencesOf(text).length, 2, text);
});

test('a blank line says nothing', () => {
  const [chunk] = chunkPassage('A lamp.\n\nA cup.\n \n', 100);
  assert.deepEqual(chunk && saidSentences(chunk).map(({ text }) => text.trim()), ['A lamp.', 'A cup.']);
});

test('chunks end at sentences and are of similar length', () => {
  const passage = 'A short sentence stands here. '.repeat(40);
  const chunks = chunkPassage(passage, 500);
  assert.equal(chunks.length, 3);
  for (const { text } of chunks) {
    assert.ok(text.endsWith('. ') && text.length > 300 && text.length <= 500);
  }
});

test('a sentence without end is split at spaces', () => {
  const chunks = chunkPassage('word '.repeat(100), 52);
  assert.ok(chunks.every(({ text }) => text.length <= 52 && text.endsWith(' ')));
});

test('chunks cover the passage exactly and are never too long', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 400 }),
    fc
      .array(fc.constantFrom('Dr. ', 'Anna ', 'ran. ', 'x'.repeat(70), '\n', '. ', '? ', '😀'), { maxLength: 80 })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 10, max: 200 }), (passage, maxChars) => {
      const chunks = chunkPassage(passage, maxChars);
      assert.equal(chunks.map((chunk) => chunk.text).join(''), passage);
      for (const chunk of chunks) {
        assert.ok(chunk.text.length <= maxChars);
        assert.equal(passage.slice(chunk.start, chunk.end), chunk.text);
        assert.equal(chunk.sentences.map((sentence) => sentence.text).join(''), chunk.text);
      }
    }),
  );
});
