import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TINY_CONFIG } from '../testing/fixtures.js';
import { activationBytes, roomForCopies } from './activations.js';

void test('the estimate of the activations is the sum that its comment names', () => {
  // Queries are 6 * 16 = 96 wide, keys and values 2 * 16 = 32. A token keeps in each layer
  //   4 * 24 = 96 of the stream, 2 * 96 + 2 * 32 = 256 of the attention, 4 * 40 = 160 of the feed-forward block,
  // and 6 * 8 = 48 weights of attention: 560 numbers. Two rows of 8 tokens in two layers: 16 * 560 * 2 = 17,920. Five
  // targets: 4 * 5 * 53 = 1,060. Of four bytes each: 75,920.
  const run = { rows: 2, length: 8, targets: 5 };
  assert.equal(activationBytes(TINY_CONFIG, run), 75_920);
  // Norms of queries and keys keep 96 + 32 = 128 more: 16 * 128 * 2 * 4 bytes = 16,384.
  assert.equal(activationBytes({ ...TINY_CONFIG, qkNorm: true }, run), 75_920 + 16_384);
});

void test('constants have room where the weights take a 64th of the bound at most', () => {
  // A layer: queries and output 2 * 96 * 24 = 4,608, keys and values 2 * 32 * 24 = 1,536, the feed-forward block
  //   3 * 40 * 24 = 2,880, norms 2 * 24 = 48: 9,072 numbers. Embedding and head 2 * 53 * 24 = 2,544, the last norm 24.
  // In all 2 * 9,072 + 2,568 = 20,712 numbers, 82,848 bytes.
  assert.equal(roomForCopies(TINY_CONFIG, 64 * 82_848), true);
  assert.equal(roomForCopies(TINY_CONFIG, 64 * 82_848 - 1), false);
});
