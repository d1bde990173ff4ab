import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { beforeRunaway } from './runaway.js';

test('a text that goes round in circles ends after the first round, wherever it is cut', () => {
  const opening = 'The mill was built in 1803:\n';
  const text = opening + 'It is a mill in Varn, which is a mill. '.repeat(40);
  for (const cut of [0, 1, 17, 30]) {
    const shown = beforeRunaway(text.slice(0, text.length - cut));
    assert.equal(shown, `${opening}It is a mill in Varn, which is a mill. `);
  }
  assert.equal(beforeRunaway(`Yes${'!'.repeat(500)}`), 'Yes!');
});

test('what is shown is the beginning, of which the rest is made', () => {
  const word = fc.string({ minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), word, fc.integer({ min: 130, max: 200 }), (opening, round, times) => {
      const text = opening + round.repeat(times);
      const shown = beforeRunaway(text);
      assert.ok(shown !== null && text.startsWith(shown) && shown.length <= opening.length + round.length);
    }),
  );
});

test('what only repeats a little is whole', () => {
  for (const text of [
    '',
    'Ha ha ha ha ha.',
    'Row, row, row your boat, gently down the stream. '.repeat(3),
    `${'| Mon | 9:00 |\n'.repeat(20)}and that is all.`,
  ])
    assert.equal(beforeRunaway(text), null);
});
