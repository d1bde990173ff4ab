/** Compares the graphs with a decoder in plain loops, which shares no code with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greatestDifference, randomWeights, tinyConfig } from '../testing/fixtures.js';
import { referenceLogits } from '../testing/referenceDecoder.js';
import { CachedBatch, logSoftmax, scoreEverything } from '../testing/runs.js';
import type { DecoderConfig } from './config.js';

const configs: readonly (readonly [string, DecoderConfig])[] = [
  ['llama', tinyConfig],
  ['qwen3', { ...tinyConfig, architecture: 'qwen3', qkNorm: true, tieWordEmbeddings: true, headDim: 32 }],
  ['qwen2', { ...tinyConfig, architecture: 'qwen2', attentionBias: true, kvHeads: 6 }],
  ['a window in the first layer', { ...tinyConfig, layerWindows: [3, null] }],
  ['a window of one token', { ...tinyConfig, layerWindows: [null, 1] }],
  ['one key head', { ...tinyConfig, kvHeads: 1, headDim: 10, ropeScaling: { kind: 'linear', factor: 2 } }],
];

for (const [index, [name, config]] of configs.entries()) {
  void test(`${name}: both graphs agree with the plain decoder`, async () => {
    const model = { config, weights: randomWeights(config, index + 7) };
    const tokens = [5, 17, 3, 52, 0, 17, 17, 29];
    const expected = referenceLogits(model, tokens).map((row) => Float32Array.from(row));
    const [scores] = await scoreEverything(model, null, [tokens]);
    const batch = await CachedBatch.open(model, [null]);
    for (const [position, token] of tokens.entries()) {
      const [logits] = await batch.append([[token]]);
      assert.ok(greatestDifference(logits!, expected[position]!) <= 1e-4, `cached, token ${position}`);
      const difference = greatestDifference(scores![position]!, logSoftmax(expected[position]!));
      assert.ok(difference <= 1e-4, `scored, token ${position}: ${difference}`);
    }
  });
}
