/** Compares training on matrices in blocks with training on float32 matrices of the same numbers. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { loraModules } from '../adapters/loraModules.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import type { DecoderConfig } from '../model/config.js';
import { weightFeeds } from '../model/inputs.js';
import { maxMergedWidth } from '../model/sequenceOperations.js';
import { quantize, type QuantizedFormat } from '../model/quantization.js';
import { loadQuantizedWeights } from '../model/quantizedWeights.js';
import { SharedWeights, type WeightsInUse } from '../model/sharedWeights.js';
import { embeddingName, headName, type DecoderWeights, type WeightTensor } from '../model/weights.js';
import { dequantize } from '../testing/dequantize.js';
import { unmanagedWeights, randomWeights, relativeError, tinyConfig, readerOf } from '../testing/fixtures.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import type { TrainingExample } from '../types.js';
import { sum } from '../support/numbers.js';
import { BatchGradients } from './batchGradients.js';
import { freshMatrices } from './parameters.js';

const lora = { rank: 4, alpha: 8 };
const examples: readonly TrainingExample[] = Array.from({ length: 12 }, (_, index) => ({
  sequence: { tokens: Array.from({ length: 30 + index }, (__, place) => (place * place + index) % 53), targetStart: 9 },
  weight: 1 + (index % 3),
}));

/** Rounds the matrices of products to the numbers of their blocks. The embedding and the norms stay unchanged. */
function rounded(config: DecoderConfig, weights: DecoderWeights, format: QuantizedFormat): DecoderWeights {
  const round = ({ shape, data }: WeightTensor): WeightTensor => {
    const [out = 0, width = 0] = shape;
    return { shape, data: Float32Array.from(dequantize(format, quantize(format, data, width), out, width).flat()) };
  };
  const tensors = [...weights].map(([name, tensor]) => {
    const isFactor = tensor.shape.length === 2 && name !== embeddingName;
    return [name, isFactor ? round(tensor) : tensor] as const;
  });
  return new Map([...tensors, ['lm_head.weight', round(weights.get(headName(config))!)]]);
}

async function inBlocks(
  config: DecoderConfig,
  weights: DecoderWeights,
  format: QuantizedFormat,
): Promise<WeightsInUse> {
  const reader = readerOf(weights);
  const quantized = await loadQuantizedWeights({ config, reader, contentHash: 'sha256:0' }, format, undefined);
  return (await SharedWeights.open(config, reader, { quantized })).use();
}

/** The loss and all gradients, computed whole and then layer by layer. Two threads share the weights. */
async function gradientsOf(config: DecoderConfig, { format, feeds }: WeightsInUse): Promise<readonly Float32Array[]> {
  const matrices = freshMatrices(config, lora.rank, 1);
  for (const [index, value] of matrices.values.entries()) matrices.values[index] = value + Math.sin(index) / 20;
  const modules = loraModules(config, lora);
  const results: Float32Array[] = [];
  for (const maxActivationBytes of [2 ** 30, 0]) {
    const inputs = { config, format, weights: feeds, modules, matrices, threads: 2, maxActivationBytes };
    const gradients = new BatchGradients(inputs);
    const loss = await gradients.lossAndGradient(gradients.batchOf(examples), {});
    results.push(Float32Array.of(loss), gradients.sum.values.slice());
    await gradients.close();
  }
  return results;
}

for (const format of ['q8', 'q4'] as const) {
  for (const [name, config] of [
    ['an untied head', tinyConfig],
    ['a tied head, biases and norms', { ...tinyConfig, tieWordEmbeddings: true, attentionBias: true, qkNorm: true }],
    ['a feed-forward block too wide to merge', { ...tinyConfig, ffnSize: maxMergedWidth + 16 }],
  ] as const) {
    test(`${format}, ${name}: loss and gradients are those of the same numbers as float32`, async () => {
      const weights = randomWeights(config, 7);
      const actual = await gradientsOf(config, await inBlocks(config, weights, format));
      const untied = { ...config, tieWordEmbeddings: false };
      const expected = await gradientsOf(
        untied,
        unmanagedWeights(weightFeeds(untied, rounded(config, weights, format))),
      );
      for (const [index, values] of expected.entries()) {
        const error = relativeError(actual[index]!, values);
        assert.ok(error <= 1e-5, `relative error ${error}`);
      }
    });
  }

  test(`${format}: an adapter scores as it was trained, and answers what it learned`, async () => {
    await withRandomCheckpoint(async (folder) => {
      const options = { modelDir: path.join(folder, 'model'), threads: 1, cacheFolder: path.join(folder, 'cache') };
      const engine = await EmbeddedEngine.open({ ...options, weightFormat: format });
      const prompt = { messages: [{ role: 'user', content: 'Who built it?' }] } as const;
      const sequence = await engine.encode(prompt, 'Ada Kell.');
      const session = await engine.openTraining({
        parent: null,
        rank: 8,
        alpha: 16,
        seed: 1,
        protectedDirections: [{ tokens: [1, 2, 3, 4], targetStart: 1 }],
      });
      for (let step = 0; step < 60; step += 1) await session.step([{ sequence, weight: 1 }], 1e-2);
      const { loss } = await session.evaluate([{ sequence, weight: 1 }]);
      const adapter = await session.save(path.join(folder, 'adapter'));
      await session.close();
      const [score] = await engine.score({ sequences: [sequence], adapter, topK: 0 });
      const scored = -sum(score!.logprobs) / score!.logprobs.length;
      assert.ok(Math.abs(scored - loss) <= 1e-4, `${scored} scored, ${loss} trained`);
      const { text } = await engine.generate({ prompt, adapter, maxOutputTokens: 32, temperature: 0 });
      assert.equal(text, 'Ada Kell.');
      await engine.close();
    });
  });
}

test('only a few matrices are float32 at once', async () => {
  // A process of its own, so that nothing else adds to its peak of memory.
  const script = `
    const { SharedWeights } = await import('../model/sharedWeights.js');
    const { loadQuantizedWeights } = await import('../model/quantizedWeights.js');
    const { openTrainingSession } = await import('./trainingSession.js');
    const { tinyConfig } = await import('../testing/fixtures.js');
    const config = { ...tinyConfig, layers: 6, hiddenSize: 1024, ffnSize: 4096 };
    const fill = (array) => array.forEach((_, index) => (array[index] = ((index % 31) - 15) / 300));
    const read = async (places) => { for (const array of places.values()) fill(array); };
    const reader = { read, blocks: undefined };
    const quantized = await loadQuantizedWeights({ config, reader, contentHash: 'sha256:0' }, 'q8', undefined);
    const weights = await (await SharedWeights.open(config, reader, { quantized })).use();
    const session = await openTrainingSession({ config, weights, name: 'wide', threads: 1 },
      { parent: null, rank: 2, alpha: 2, seed: 1 });
    const before = process.resourceUsage().maxRSS;
    await session.step([{ sequence: { tokens: [1, 2, 3, 4, 5], targetStart: 2 }, weight: 1 }], 0);
    await session.close();
    console.log((process.resourceUsage().maxRSS - before) * 1024);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    timeout: 600_000,
  });
  const floatBytes = 6 * 3 * 1024 * 4096 * Float32Array.BYTES_PER_ELEMENT;
  assert.ok(Number(stdout) < floatBytes / 2, `${stdout} bytes of ${floatBytes}`);
});
