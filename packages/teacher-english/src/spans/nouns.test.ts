import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withBareNouns } from './nouns.js';
import { sentencesOf } from '@engraft/learning/parts';
import { findSpans } from './spans.js';

function nounsOf(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => {
    const spans = findSpans(sentence, text);
    return withBareNouns(spans, sentence)
      .filter(({ start }) => spans.every((span) => span.start !== start))
      .map((span) => span.text);
  });
}

test('objects without an article are found', () => {
  assert.deepEqual(nounsOf('Grandma Etta keeps selling sausages at home games.'), ['sausages']);
  assert.deepEqual(nounsOf('The ship had carried porcelain and sank off Cape Renfrew.'), ['porcelain']);
});

test('what is known already, times and values are not', () => {
  assert.deepEqual(nounsOf('The robot cleans its brush twice a year.'), []);
  assert.deepEqual(nounsOf('It holds 1.4 litres.'), []);
});

test('only whole words, after a bullet and with accents, too', () => {
  for (const text of ['- The shop sells fresh apples gladly.', '* Anna sells cafe\u0301 noir — and pears -- here.']) {
    for (const noun of nounsOf(text))
      assert.match(text, new RegExp(`(?<![\\p{L}\\p{M}])${noun}(?![\\p{L}\\p{M}])`, 'u'));
  }
  assert.ok(nounsOf('- The shop sells fresh apples gladly.').includes('fresh apples'));
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
          assert.doesNotMatch(span.text, /^[\s-]|[\s-]$/u);
          assert.ok(!/\p{L}/u.test(text.charAt(span.end)) && !/\p{L}/u.test(text.charAt(span.start - 1)));
          assert.ok(span.start >= (spans[index - 1]?.end ?? 0));
        }
      }
    }),
  );
});
