import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withOpening } from './opening.js';

const sequence = { tokens: [1, 2, 3, 4, 5, 6], targetStart: 2 };

test('the beginning of an answer counts as much as all of it', () => {
  const { targetWeights = [], ...example } = withOpening({ sequence, weight: 1 }, 2);
  assert.deepEqual(example, { sequence, weight: 2 });
  assert.deepEqual(targetWeights, [0.75, 0.75, 0.25, 0.25]);
});

test('answers that are no longer than a beginning stay as they are, and so do all if no beginning counts', () => {
  for (const openingTokens of [0, 4, 9]) {
    const example = { sequence, weight: 1 };
    assert.equal(withOpening(example, openingTokens), example);
  }
});
