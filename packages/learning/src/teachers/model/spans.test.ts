import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containsWords } from '../../text/normalise.js';
import { spansOf } from './spans.js';

test('runs are spread over the sentence, and neither begin nor end with a short word', () => {
  const sentence = 'The kiln in Orvale, which Ada Kell built in 1874, burns the wood of old barrels.';
  assert.deepEqual(spansOf(sentence, 5), ['kiln', 'which Ada', 'Ada Kell built', 'built in 1874', 'wood']);
});

test('a script without spaces, and a sentence of short words, have none', () => {
  assert.deepEqual(spansOf('', 4), []);
  assert.deepEqual(spansOf('It is on to us.', 4), ['It']);
});

test('every run stands in the sentence, and no more are given than wanted', () => {
  const word = fc.constantFrom('Ada', 'of', 'kiln,', '(wood', '1874', 'the', '"Orvale".', 'is');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), fc.integer({ min: 1, max: 8 }), (words, count) => {
      const sentence = words.join(' ');
      const spans = spansOf(sentence, count);
      assert.ok(spans.length <= count);
      assert.equal(new Set(spans).size, spans.length);
      for (const span of spans) assert.ok(containsWords(sentence, span), span);
    }),
  );
});
