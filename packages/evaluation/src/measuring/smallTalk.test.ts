import assert from 'node:assert/strict';
import test from 'node:test';
import { replayRemarks } from '@engraft/learning/parts';
import { isSensible, smallTalk } from './smallTalk.js';

const leave = smallTalk.find(({ remark }) => remark === 'See you tomorrow.')!;

test('a usual reply is in order, also where base says something else', () => {
  assert.ok(isSensible('Goodbye!', 'Good to know.', leave));
  assert.ok(isSensible('See you tomorrow, then.', 'Good to know.', leave));
});

test('a reply near to base’s own is in order', () => {
  assert.ok(isSensible('Good to know that.', 'Good to know.', leave));
});

test('an answer from a passage, another remark’s reply and silence are not', () => {
  for (const given of ['412 grams', 'Mira Voss', 'I am a small assistant.', 'I do not know.', '']) {
    assert.equal(isSensible(given, 'Good to know.', leave), false, given);
  }
});

test('no canary is a remark that training rehearses', () => {
  const rehearsed = new Set(replayRemarks.map((remark) => remark.toLowerCase()));
  assert.deepEqual(
    smallTalk.filter(({ remark }) => rehearsed.has(remark.toLowerCase())),
    [],
  );
});
