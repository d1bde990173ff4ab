import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scoreAnswer } from './tokenF1.js';

/** The published script, line by line: a Counter's intersection, precision, recall, their harmonic mean. */
function referenceF1(given: string, accepted: string): number {
  const [prediction, truth] = [referenceTokens(given), referenceTokens(accepted)];
  if (prediction.length === 0 || truth.length === 0) return Number(prediction.length === truth.length);
  const count = (tokens: readonly string[], token: string): number => tokens.filter((each) => each === token).length;
  const same = [...new Set(prediction)].reduce(
    (sum, token) => sum + Math.min(count(prediction, token), count(truth, token)),
    0,
  );
  if (same === 0) return 0;
  const [precision, recall] = [same / prediction.length, same / truth.length];
  return (2 * precision * recall) / (precision + recall);
}

function referenceTokens(text: string): string[] {
  const marks = new Set('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');
  return Array.from(text.toLowerCase())
    .filter((character) => !marks.has(character))
    .join('')
    .split(/\s+/u)
    .filter((token) => !['', 'a', 'an', 'the'].includes(token));
}

for (const [given, accepted, exact, f1] of [
  ['the Eiffel Tower', ['Eiffel Tower'], true, 1],
  ['in Paris, France.', ['Paris'], false, 1 / 2],
  ['in Paris, France.', ['Paris', 'Paris, France'], false, 4 / 5],
  ['A, B and A', ['b and c'], false, 4 / 5],
  // Words count as often as they are said.
  ['very very tall', ['very tall tall'], false, 2 / 3],
  ['Well-known', ['well known'], false, 0],
  ['1,000', ['1000'], true, 1],
  ['$49', ['49'], true, 1],
  ['4.9', ['49'], true, 1],
  ['seven', ['7'], false, 0],
  // Other languages' punctuation is left standing, and an article is a whole word.
  ['“Varn”', ['Varn'], false, 0],
  ['thé a', ['thé'], true, 1],
  ['éa the', ['éa'], true, 1],
  ['', ['Varn'], false, 0],
  ['The.', ['a'], true, 1],
  ['Varn', [], false, 0],
] as const) {
  test(`"${given}" against ${JSON.stringify(accepted)}: ${exact ? 'exact, ' : ''}${f1.toFixed(2)}`, () => {
    const score = scoreAnswer(given, accepted);
    assert.equal(score.exact, exact);
    assert.ok(Math.abs(score.f1 - f1) < 1e-12, String(score.f1));
  });
}

const words = fc
  .array(fc.constantFrom('the', 'A', 'an', 'tower', 'Tower,', 'tall', 'in', '“x”', '...', 'été'), { maxLength: 8 })
  .map((parts) => parts.join(' '));
const texts = fc.oneof(words, fc.string(), fc.string({ unit: 'grapheme' }));

test('token F1 is what the script computes, of several accepted answers the best', () => {
  fc.assert(
    fc.property(words, fc.array(words, { minLength: 1, maxLength: 3 }), (given, accepted) => {
      const expected = Math.max(...accepted.map((answer) => referenceF1(given, answer)));
      assert.ok(Math.abs(scoreAnswer(given, accepted).f1 - expected) < 1e-12);
    }),
  );
});

test('token F1 lies between 0 and 1, is 1 of equal texts, and takes either for the accepted one', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      const { exact, f1 } = scoreAnswer(a, [b]);
      assert.ok(f1 >= 0 && f1 <= 1);
      assert.equal(scoreAnswer(b, [a]).f1, f1);
      assert.deepEqual(scoreAnswer(a, [a]), { exact: true, f1: 1 });
      if (exact) assert.equal(f1, 1);
    }),
  );
});
