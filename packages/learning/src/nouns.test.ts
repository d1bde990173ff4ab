import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withBareNouns } from './nouns.js';
import { sentencesOf } from './sentences.js';
import { findSpans } from './spans.js';

function nounsOf(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => {
    const spans = findSpans(sentence, text);
    return withBareNouns(spans, sentence)
      .filter(({ start }) => spans.every((span) => span.start !== start))
      .map((span) => span.text);
  });
}

test('objects without an article are found, and what opens a clause without one', () => {
  assert.deepEqual(nounsOf('Grandma Etta keeps selling sausages at home games.'), ['sausages']);
  assert.deepEqual(nounsOf('The ship had carried porcelain and sank off Cape Renfrew.'), ['porcelain']);
  assert.ok(
    nounsOf('Bees live on the roof of the hall.').includes('bees') === false,
    'as it is written: capitals are names',
  );
});

test('what is known already, times and values are not', () => {
  assert.deepEqual(nounsOf('The robot cleans its brush twice a year.'), []);
  assert.deepEqual(nounsOf('It holds 1.4 litres.'), []);
});

test('for any text: the spans in order, without overlap, each as it stands in the text', () => {
  const words = fc.constantFrom(
    'the',
    'cook',
    'sells',
    'red',
    'apples',
    'and',
    'Oslo',
    'in',
    '42',
    'boats',
    ',',
    'its',
    '—',
    '“tea”',
  );
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 14 }), (drawn) => {
      const text = `${drawn.join(' ')}.`;
      for (const sentence of sentencesOf(text)) {
        const spans = withBareNouns(findSpans(sentence, text), sentence);
        for (const [index, span] of spans.entries()) {
          assert.equal(text.slice(span.start, span.end), span.text);
          assert.ok(span.start >= (spans[index - 1]?.end ?? 0));
        }
      }
    }),
  );
});
