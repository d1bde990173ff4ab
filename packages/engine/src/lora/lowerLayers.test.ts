/** Compares steps that begin above the layers which an adapter leaves alone with steps that compute all layers. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { readAdapter } from '../adapters/adapterFolder.js';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import type { DecoderConfig } from '../model/config.js';
import { factorConstants, weightFeeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import { lowerStates } from '../model/trainingGraph.js';
import { moduleTensorSpecs } from '../model/weights.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import { randomWeights, relativeError, temporaryFolder, tinyConfig, unmanagedWeights } from '../testing/fixtures.js';
import type { TrainingExample, TrainingOptions } from '../types.js';
import { buildBatch } from './batch.js';
import { WholeGradientRunner, type GradientRunner, type TrainingInputs } from './gradientRunner.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { LowerLayers } from './lowerLayers.js';
import { FlatMatrices, freshMatrices, tensorsOver } from './parameters.js';
import { openTrainingSession, type TrainingModel } from './trainingSession.js';
import type { LaidOutRun, TrainingRun } from './runLayout.js';

/** Layer 1 has a window, so the layers below the adapter differ. */
const config: DecoderConfig = { ...tinyConfig, layers: 5, layerWindows: [null, 3, null, null, null] };
const weights = weightFeeds(config, randomWeights(config, 4));
const lora: LoraHyperparameters = { rank: 2, alpha: 3, layers: [3, 4] };
const beginning = [3, 1, 4, 1, 5, 9, 2, 6, 5];
const examples: readonly TrainingExample[] = [
  { sequence: { tokens: [...beginning, 3, 5, 8], targetStart: 10 }, weight: 1 },
  { sequence: { tokens: [...beginning, 7, 9], targetStart: 10 }, weight: 2 },
  { sequence: { tokens: [2, 7, 1, 8, 2], targetStart: 2 }, weight: 1 },
];

function inputsOf(): TrainingInputs {
  const modules = loraModules(config, lora);
  const matrices = new FlatMatrices(moduleTensorSpecs(config, modules));
  matrices.values.set(freshMatrices(config, 2, 3, 3).values.map((x) => x + 0.01));
  const feeds = tensorsOver(matrices, (name) => name);
  const constants = SharedConstants.create(factorConstants(weights));
  return { config, format: 'f32', weights, matrices: feeds, modules, threads: 1, constants };
}

async function gradientsBy(runner: GradientRunner, run: TrainingRun): Promise<{ loss: number; values: Float32Array }> {
  const gradients = new FlatMatrices(moduleTensorSpecs(config, loraModules(config, lora)));
  const loss = await runner.run(run, tensorsOver(gradients, gradientName), {});
  await runner.close();
  return { loss, values: gradients.values };
}

for (const [way, runnerClass] of [
  ['the whole step', WholeGradientRunner],
  ['layer by layer', LayerwiseGradientRunner],
] as const) {
  void test(`${way}: from the states of the lower layers it has the loss and gradients of all layers`, async () => {
    const inputs = inputsOf();
    const run = buildBatch(examples, config).parts[0]![0]!;
    assert.ok(run.packed);
    const expected = await gradientsBy(new WholeGradientRunner(inputs), run);
    const lower = new LowerLayers(inputs, 3);
    const begun = await lower.begin(run, {});
    await lower.close();
    // Were they computed from the tokens, other states would change nothing.
    const { data, dims } = begun.feeds[lowerStates]!;
    assert.deepEqual(dims, [run.rows * run.length, config.hiddenSize]);
    assert.ok(data instanceof Float32Array);
    const { loss, values } = await gradientsBy(new runnerClass(inputs), begun);
    assert.ok(Math.abs(loss - expected.loss) <= 1e-6 * expected.loss);
    assert.ok(relativeError(values, expected.values) <= 1e-5);
    data.fill(0.5);
    assert.notEqual((await gradientsBy(new runnerClass(inputs), begun)).loss, loss);
  });
}

void test('states of a sequence are the same alone, beside others, and when there is no room to keep them', async () => {
  const inputs = inputsOf();
  const run = buildBatch(examples, config).parts[0]![0]!;
  const single = buildBatch(examples.slice(0, 1), config).parts[0]![0]!;
  const [keeping, forgetting] = [new LowerLayers(inputs, 3), new LowerLayers(inputs, 3, 0)];
  const states = async (lower: LowerLayers, of: LaidOutRun): Promise<unknown> =>
    (await lower.begin(of, {})).feeds[lowerStates]!.data;
  const once = await states(keeping, run);
  assert.deepEqual(await states(keeping, run), once);
  assert.deepEqual(await states(forgetting, run), once);
  const { start, shared, trunkStart } = run.sequences.find(({ tokens }) => tokens.length === beginning.length + 3)!;
  const width = config.hiddenSize;
  const all = once as Float32Array;
  const own = [
    ...all.subarray(trunkStart * width, (trunkStart + shared) * width),
    ...all.subarray(start * width, (start + beginning.length + 3 - shared) * width),
  ];
  assert.deepEqual([...((await states(forgetting, single)) as Float32Array)], own);
  await Promise.all([keeping.close(), forgetting.close()]);
});

const model: TrainingModel = { config, weights: unmanagedWeights(weights), name: null, threads: 1 };
const upper: TrainingOptions = { parent: null, rank: 2, alpha: 4, seed: 1, firstLayer: 3 };

void test('an adapter from a layer on changes no layer below, and learns; two threads learn the same', async (t) => {
  const folder = await temporaryFolder(t);
  const hashes: string[] = [];
  for (const threads of [1, 2]) {
    const session = await openTrainingSession({ ...model, threads }, upper);
    // Enough tokens for two parts, one of which the second thread computes.
    const batch = Array.from({ length: 24 }, () => examples).flat();
    const { loss: before } = await session.step(batch, 0.02);
    for (let step = 0; step < 10; step += 1) await session.step(batch, 0.02);
    assert.ok((await session.evaluate(examples)).loss < before);
    const saved = await session.save(path.join(folder, String(threads)));
    await session.close();
    hashes.push(saved.contentHash);
    const adapter = await readAdapter(saved, config);
    assert.deepEqual(adapter.layers, [3, 4]);
    assert.ok([...adapter.matrices.keys()].every((name) => /layers\.[34]\./.test(name)));
  }
  assert.equal(hashes[0], hashes[1]);
});

void test('a training that goes on from its snapshot ends as one that was not interrupted', async (t) => {
  const folder = await temporaryFolder(t);
  const whole = await openTrainingSession(model, upper);
  const first = await openTrainingSession(model, upper);
  for (let step = 0; step < 3; step += 1) {
    await whole.step(examples, 0.02);
    await first.step(examples, 0.02);
  }
  await first.snapshot(path.join(folder, 'snapshot'));
  await first.close();
  const second = await openTrainingSession(model, { resume: path.join(folder, 'snapshot') });
  for (let step = 0; step < 3; step += 1) {
    await whole.step(examples, 0.02);
    await second.step(examples, 0.02);
  }
  const hashes = [await whole.save(path.join(folder, 'whole')), await second.save(path.join(folder, 'second'))];
  assert.equal(hashes[0]!.contentHash, hashes[1]!.contentHash);
  await Promise.all([whole.close(), second.close()]);
});

void test('a step that is too large to be computed whole has the same gradient', async () => {
  const norms: number[] = [];
  for (const maxActivationBytes of [2 ** 30, 1]) {
    const session = await openTrainingSession(model, { ...upper, maxActivationBytes });
    norms.push((await session.step(examples, 0.02)).gradientNorm);
    await session.close();
  }
  assert.ok(Math.abs(norms[1]! - norms[0]!) <= 1e-5 * norms[0]!);
});

for (const firstLayer of [-1, 1.5, 5]) {
  void test(`firstLayer ${firstLayer} is refused by name`, async () => {
    await assert.rejects(openTrainingSession(model, { ...upper, firstLayer }), {
      code: 'invalid_request',
      message: 'firstLayer must be a whole number from 0 to 4',
    });
  });
}
