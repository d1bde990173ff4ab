/** Compares training in integers with training in float32. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { loraModules } from '../adapters/loraModules.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import type { DecoderConfig } from '../model/config.js';
import { SharedWeights, type WeightsInUse } from '../model/sharedWeights.js';
import { maxMergedWidth } from '../model/sequenceOperations.js';
import type { DecoderWeights } from '../model/weights.js';
import { randomWeights, relativeError, tinyConfig, readerOf } from '../testing/fixtures.js';
import { withoutIntegers } from '../testing/integerProcessor.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { randomExamples } from '../testing/trainingExamples.js';
import { BatchGradients } from './batchGradients.js';
import { trainsInIntegers } from './integerTraining.js';
import { freshMatrices } from './parameters.js';
import { openTrainingSession } from './trainingSession.js';

const lora = { rank: 4, alpha: 8 };
const examples = randomExamples(12, 40);

async function weightsIn(config: DecoderConfig, weights: DecoderWeights, inIntegers: boolean): Promise<WeightsInUse> {
  return (await SharedWeights.open(config, readerOf(weights), { inIntegers })).use();
}

/** The loss and all gradients, computed whole and then layer by layer. Two threads share the weights. */
async function gradientsOf(config: DecoderConfig, { format, feeds }: WeightsInUse) {
  const matrices = freshMatrices(config, lora.rank, 1);
  for (const [index, value] of matrices.values.entries()) matrices.values[index] = value + Math.sin(index) / 20;
  const modules = loraModules(config, lora);
  const results: { readonly loss: number; readonly gradient: Float32Array }[] = [];
  for (const maxActivationBytes of [2 ** 30, 0]) {
    const inputs = { config, format, weights: feeds, modules, matrices, threads: 2, maxActivationBytes };
    const gradients = new BatchGradients(inputs);
    const loss = await gradients.lossAndGradient(gradients.batchOf(examples), {});
    results.push({ loss, gradient: gradients.sum.values.slice() });
    await gradients.close();
  }
  return results;
}

for (const [name, config] of [
  ['an untied head', tinyConfig],
  ['a tied head, biases and norms', { ...tinyConfig, tieWordEmbeddings: true, attentionBias: true, qkNorm: true }],
  ['a feed-forward block too wide to merge', { ...tinyConfig, ffnSize: maxMergedWidth + 16 }],
] as const) {
  test(`${name}: the loss is that of float32, and gradients are near`, { skip: withoutIntegers }, async () => {
    const weights = randomWeights(config, 7);
    const inIntegers = await weightsIn(config, weights, true);
    assert.equal(inIntegers.format, 'integers');
    const actual = await gradientsOf(config, inIntegers);
    const expected = await gradientsOf(config, await weightsIn(config, weights, false));
    for (const [index, { loss, gradient }] of expected.entries()) {
      const [lossError, gradientError] = [
        Math.abs(actual[index]!.loss / loss - 1),
        relativeError(actual[index]!.gradient, gradient),
      ];
      assert.ok(lossError <= 1e-4, `loss: ${lossError}`);
      assert.ok(gradientError <= 5e-2, `gradient: ${gradientError}`);
    }
  });
}

test('what was trained in integers is answered in float32, with the same loss', { skip: withoutIntegers }, async () => {
  await withRandomCheckpoint(async (folder) => {
    const modelDir = path.join(folder, 'model');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1 });
    const prompt = { messages: [{ role: 'user', content: 'Who built it?' }] } as const;
    const example = { sequence: await engine.encode(prompt, 'Ada Kell.'), weight: 1 };
    const { config, weights: reader, description } = await openCheckpoint(modelDir);
    const weights = await (await SharedWeights.open(config, reader, { inIntegers: true })).use();
    const model = { config, weights, threads: 1, name: description.contentHash };
    const protectedDirections = [{ tokens: [1, 2, 3, 4], targetStart: 1 }];
    const options = { parent: null, rank: 8, alpha: 16, seed: 1, protectedDirections };
    const session = await openTrainingSession(model, options, {});
    for (let step = 0; step < 60; step += 1) await session.step([example], 1e-2);
    const { loss } = await session.evaluate([example]);
    const adapter = await session.save(path.join(folder, 'adapter'));
    await session.close();
    const [score] = await engine.score({ sequences: [example.sequence], adapter, topK: 0 });
    const logprobs = score!.logprobs;
    const scored = -logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length;
    assert.ok(Math.abs(scored - loss) <= 1e-3, `${scored} scored, ${loss} trained`);
    const { text } = await engine.generate({ prompt, adapter, maxOutputTokens: 32, temperature: 0 });
    assert.equal(text, 'Ada Kell.');
    await engine.close();
  });
});

test('a model whose matrices can be constants trains in float32 on any processor', () => {
  assert.equal(trainsInIntegers(tinyConfig), false);
});
