/** Compares every LoRA gradient of the training graph with finite differences of its loss. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loraModules } from '../adapters/loraModules.js';
import { buildBatch } from '../lora/batch.js';
import { FlatMatrices, freshMatrices, tensorsOver } from '../lora/parameters.js';
import type { DecoderConfig } from '../model/config.js';
import { weightFeeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import { maxMergedWidth } from '../model/sequenceOperations.js';
import { buildTrainingGraph } from '../model/trainingGraph.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { createRandom } from '../support/random.js';
import { randomWeights, tinyConfig } from '../testing/fixtures.js';
import type { TrainingExample } from '../types.js';

const configs: readonly (readonly [string, DecoderConfig])[] = [
  ['llama, untied head', tinyConfig],
  ['qwen3, tied head', { ...tinyConfig, architecture: 'qwen3', qkNorm: true, tieWordEmbeddings: true, headDim: 32 }],
  ['qwen2, no grouping', { ...tinyConfig, architecture: 'qwen2', attentionBias: true, heads: 2 }],
  ['llama, a feed-forward block too wide to merge', { ...tinyConfig, ffnSize: maxMergedWidth + 16 }],
];

/** The examples differ in length. One has hard targets, the other soft ones. */
const examples: readonly TrainingExample[] = [
  { sequence: { tokens: [3, 1, 4, 1, 5, 9, 2, 6], targetStart: 3 }, weight: 1 },
  {
    sequence: { tokens: [7, 18, 28, 18, 28], targetStart: 2 },
    weight: 2,
    softTargets: [
      { ids: [18, 4], logprobs: [-0.4, -1.5] },
      { ids: [28], logprobs: [-0.1] },
      { ids: [1, 2, 3], logprobs: [-1, -1.1, -2] },
    ],
  },
];

for (const [name, config] of configs) {
  void test(`${name}: gradients equal finite differences`, async () => {
    const matrices = freshMatrices(config, 3, 11);
    const random = createRandom(12);
    for (let index = 0; index < matrices.values.length; index += 1)
      matrices.values[index]! += (random.next() - 0.5) / 4;
    const run = buildBatch(examples, config).parts[0]![0]!;
    const modules = loraModules(config, { rank: 3, alpha: 5 });
    const graph = buildTrainingGraph(config, { modules, gradients: true, packed: run.packed });
    const session = await Session.create(graph.model, { threads: 1 });
    const feeds: Record<string, Tensor> = {
      ...weightFeeds(config, randomWeights(config, 13)),
      ...run.feeds,
    };
    for (const [matrix, { shape, data }] of matrices.matrices) feeds[matrix] = new Tensor(data, shape);
    const gradients = new FlatMatrices(matrices.specs);
    await session.run([feeds], [tensorsOver(gradients, gradientName)]);
    const loss = new Float32Array(1);
    const lossAt = async () => {
      await session.run([feeds], [{ loss: new Tensor(loss, []) }]);
      return loss[0]!;
    };

    for (const [matrix, { data }] of matrices.matrices) {
      const gradient = gradients.matrices.get(matrix)!.data;
      // Along the gradient the loss changes most, so float32 noise matters least there. The random part finds errors
      // that are orthogonal to the gradient.
      const norm = Math.hypot(...gradient);
      const direction = gradient.map((value) => value / norm + (random.next() - 0.5) / Math.sqrt(gradient.length));
      const analytic = direction.reduce((sum, value, index) => sum + value * gradient[index]!, 0);
      const original = data.slice();
      const lossMoved = async (distance: number) => {
        for (let index = 0; index < data.length; index += 1)
          data[index] = original[index]! + distance * direction[index]!;
        return lossAt();
      };
      // Longer steps would measure the curvature of the softmax, shorter ones the rounding of the loss.
      const step = Math.min(0.02, 0.005 / norm);
      const near = (await lossMoved(step)) - (await lossMoved(-step));
      const far = (await lossMoved(2 * step)) - (await lossMoved(-2 * step));
      const numeric = (8 * near - far) / (12 * step);
      data.set(original);
      const error = Math.abs(numeric - analytic) / Math.abs(analytic);
      assert.ok(norm > 0 && error < 2e-3, `${matrix}: ${numeric} numerically, ${analytic} by the graph`);
    }
  });
}
