import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownAnswer } from './shownAnswer.js';

test('an answer that was cut says so, with its length', () => {
  const cut = shownAnswer({ text: 'The mill was built in', finish_reason: 'length' }, 5);
  assert.equal(cut.text, 'The mill was built in');
  assert.match(cut.remark ?? '', /was cut when it had 5 tokens/);
});

test('of repetition up to the limit one round is shown, and where the rest is', () => {
  const round = 'The mill was built in 1803 by the brothers Orlo. ';
  const { text, remark } = shownAnswer({ text: round.repeat(60), finish_reason: 'length' }, 2048);
  assert.equal(text, `${round.trim()} …`);
  assert.match(remark ?? '', /repeats itself.*--json/);
});

test('an answer that ended by itself is shown as it is, whatever it repeats', () => {
  const text = 'Row, row, row your boat, gently down the stream.\n'.repeat(10);
  assert.deepEqual(shownAnswer({ text, finish_reason: 'stop' }, 120), { text, remark: null });
});
