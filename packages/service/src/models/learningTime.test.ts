import assert from 'node:assert/strict';
import { test } from 'node:test';
import { learningSeconds } from './learningTime.js';

test('the time to learn is that of reading, of writing and of training', () => {
  const speeds = { reading: 500, writing: 40, training: 250 };
  assert.equal(learningSeconds({ readTokens: 1000, writtenTokens: 0, trainedTokens: 0 }, speeds), 2);
  assert.equal(learningSeconds({ readTokens: 0, writtenTokens: 120, trainedTokens: 0 }, speeds), 3);
  assert.equal(learningSeconds({ readTokens: 0, writtenTokens: 0, trainedTokens: 1000 }, speeds), 4);
  assert.equal(learningSeconds({ readTokens: 1000, writtenTokens: 120, trainedTokens: 1000 }, speeds), 9);
});
