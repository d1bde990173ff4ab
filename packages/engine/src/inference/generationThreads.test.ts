import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tinyConfig } from '../testing/fixtures.js';
import { generationThreads } from './generationThreads.js';

/** The layer shapes of Qwen2.5 0.5B. */
const half = { ...tinyConfig, hiddenSize: 896, heads: 14, kvHeads: 2, headDim: 64, ffnSize: 4864 };
const small = { ...tinyConfig, hiddenSize: 256, heads: 4, kvHeads: 4, headDim: 64, ffnSize: 1024 };

test('small products are computed by one thread, large ones by all that may be used', () => {
  assert.equal(generationThreads(small, 4), 1);
  assert.equal(generationThreads(half, 4), 4);
  assert.equal(generationThreads(half, 1), 1);
});
