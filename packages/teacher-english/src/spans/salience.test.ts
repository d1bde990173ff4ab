import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { salienceFeatures, salienceOf } from './salience.js';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from './spans.js';
import { withBareNouns } from './nouns.js';

/** The salience of every span, by its text. */
function saliences(passage: string): Map<string, number> {
  const found = sentencesOf(passage).flatMap((sentence) => {
    const spans = withBareNouns(findSpans(sentence, passage), sentence);
    return spans.map((span) => {
      return [
        span.text,
        salienceOf(
          salienceFeatures(span, sentence, spans, {
            text: passage,
            opening: sentencesOf(passage)[0]?.text ?? '',
            protagonist: null,
          }),
        ),
      ] as const;
    });
  });
  return new Map(found);
}

function assertOrder(passage: string, ...answers: readonly string[]): void {
  const found = saliences(passage);
  const chances = answers.map((answer) => found.get(answer) ?? NaN);
  assert.deepEqual(
    [...chances].sort((a, b) => b - a),
    chances,
    answers.map((answer, index) => `${answer} ${chances[index]}`).join(', '),
  );
}

test('people ask for names and numbers rather than for things, and for a thing that has a kind rather than for a light noun', () => {
  const passage =
    'The mill was sold to Ada Kell for 4,000 pounds. It is made of oak. At the end of the year the sale of bread began.';
  assertOrder(passage, '4,000 pounds', 'oak', 'end');
  assertOrder(passage, 'Ada Kell', 'oak', 'sale');
});

test('what the passage is about, speaks of again, or goes on to describe is asked for less', () => {
  const passage =
    'The Lume Lamp is sold by Orin Works. Near a park Berit Falk grinds the glass for it. The glass comes with a bag of sand. It lies in a box with a hook.';
  assertOrder(passage, 'Berit Falk', 'Lume Lamp');
  assertOrder(passage, 'hook', 'glass');
  assertOrder(passage, 'hook', 'bag');
});

test('a chance lies between 0 and 1 for any text', () => {
  const word = fc.constantFrom('Ada', 'Kell', 'the', 'mill', '4', 'pounds', 'and', 'of', 'oak', 'running', '1994', '.');
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
      for (const chance of saliences(words.join(' ')).values()) assert.ok(chance > 0 && chance < 1);
    }),
  );
});
