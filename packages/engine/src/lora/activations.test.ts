import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinyConfig } from '../testing/fixtures.js';
import { activationBytes, fitsWeightCopies } from './activations.js';

void test('the estimate of the activations is the sum that its comment names', () => {
  // Queries are 6 * 16 = 96 wide, keys and values 2 * 16 = 32. Each layer keeps 560 numbers for a token: 4 * 24 = 96 of
  // the stream, 2 * 96 + 2 * 32 = 256 of the attention, 4 * 40 = 160 of the feed-forward block, and 6 * 8 = 48 weights
  // of attention. Two rows of 8 tokens in two layers have 16 * 560 * 2 = 17,920 numbers, and five targets have
  // 4 * 5 * 53 = 1,060. At four bytes each that is 75,920 bytes.
  const run = { rows: 2, length: 8, targets: 5 };
  assert.equal(activationBytes(tinyConfig, run), 75_920);
  // Norms of queries and keys keep 96 + 32 = 128 more numbers for a token: 16 * 128 * 2 * 4 = 16,384 bytes.
  assert.equal(activationBytes({ ...tinyConfig, qkNorm: true }, run), 75_920 + 16_384);
});

void test('constants have room where the weights take a 64th of the bound at most', () => {
  // A layer has 9,072 weights: queries and output 2 * 96 * 24 = 4,608, keys and values 2 * 32 * 24 = 1,536, the
  // feed-forward block 3 * 40 * 24 = 2,880, and norms 2 * 24 = 48. The embedding and the head have 2 * 53 * 24 = 2,544,
  // the last norm 24. Two layers and these are 2 * 9,072 + 2,568 = 20,712 numbers, or 82,848 bytes.
  assert.equal(fitsWeightCopies(tinyConfig, 64 * 82_848), true);
  assert.equal(fitsWeightCopies(tinyConfig, 64 * 82_848 - 1), false);
});
