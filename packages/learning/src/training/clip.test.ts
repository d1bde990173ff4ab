import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { clippedQuestions } from './clip.js';
import { randomNumbers } from '../random.js';

test('clipped questions keep the question word, names and numbers, and the order of words', () => {
  const question = 'How many seats does the Blue Thimble have since 1998?';
  const clipped = clippedQuestions(question, 6, randomNumbers(1));
  assert.equal(new Set(clipped).size, 6);
  for (const text of clipped) {
    assert.match(text, /^How .*Blue Thimble.*1998\?$/u);
    assert.ok(text.length < question.length, text);
  }
});

test('what a question denies, its copies deny', () => {
  for (const question of ['When is Sorrel Park not open to anybody?', "What doesn't the shop of Bo Lind sell today?"])
    for (const text of clippedQuestions(question, 6, randomNumbers(1))) assert.match(text, / not\b|doesn't/u);
});

test('nothing is made up: every word of a copy stands in the question, in its order', () => {
  const word = fc.stringMatching(/^[A-Za-zé]{1,8}$/u);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), fc.nat(), (words, seed) => {
      for (const text of clippedQuestions(`${words.join(' ')}?`, 4, randomNumbers(seed))) {
        const rest = [...words];
        for (const kept of text.slice(0, -1).split(' ')) {
          const at = rest.indexOf(kept);
          assert.ok(at >= 0, `${kept} of ${text}`);
          rest.splice(0, at + 1);
        }
      }
    }),
  );
});

test('a question of names alone has nothing to lose', () => {
  assert.deepEqual(clippedQuestions('Who Is Ada Lund?', 4, randomNumbers(2)), []);
});
