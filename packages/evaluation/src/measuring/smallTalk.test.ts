import assert from 'node:assert/strict';
import test from 'node:test';
import { replayRemarks } from '@engraft/learning/parts';
import { isSensible, smallTalk } from './smallTalk.js';

const leave = smallTalk.find(({ remark }) => remark === 'See you tomorrow.')!;

/** Base finds its own reply likely, and the given one not. */
function isInOrder(given: string, nats = 4): boolean {
  return isSensible({ text: given, nats }, { text: 'Good to know.', nats: 0.5 }, leave);
}

test('a usual reply is in order, also where base says something else', () => {
  assert.ok(isInOrder('Goodbye!'));
  assert.ok(isInOrder('See you tomorrow, then.'));
});

test('a reply near to base’s own is in order', () => {
  assert.ok(isInOrder('Good to know that.'));
});

test('a reply in other words is in order where base might have said it', () => {
  assert.ok(isInOrder('I am glad that I could help with your work.', 1.5));
  assert.equal(isInOrder('I am glad that I could help with your work.', 1.6), false);
});

test('an answer from a passage, another remark’s reply and silence are not', () => {
  for (const given of ['412 grams', 'Mira Voss', 'I am a small assistant.', 'I do not know.']) {
    assert.equal(isInOrder(given), false, given);
  }
  assert.equal(isInOrder('', 0), false);
});

test('no canary is a remark that training rehearses', () => {
  const rehearsed = new Set(replayRemarks.map((remark) => remark.toLowerCase()));
  assert.deepEqual(
    smallTalk.filter(({ remark }) => rehearsed.has(remark.toLowerCase())),
    [],
  );
});
