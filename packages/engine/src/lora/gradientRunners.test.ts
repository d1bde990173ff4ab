/** Compares both ways to compute a step with `peft` and with each other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loraModules, type LoraHyperparameters } from '../adapters/loraModules.js';
import type { FloatTensor } from '../checkpoint/safetensors.js';
import type { DecoderConfig } from '../model/config.js';
import { factorConstants, weightFeeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import { maxMergedWidth } from '../model/sequenceOperations.js';
import { moduleTensorSpecs } from '../model/weights.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import { Tensor } from '../onnx/tensor.js';
import { fixtureNames, loadFixture, randomWeights, relativeError, tinyConfig } from '../testing/fixtures.js';
import type { TrainingExample } from '../types.js';
import { buildBatch } from './batch.js';
import type { TrainingRun } from './runLayout.js';
import { WholeGradientRunner, type GradientRunner, type TrainingInputs } from './gradientRunner.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { FlatMatrices, freshMatrices, tensorsOver } from './parameters.js';

const runners = [
  ['the whole step', WholeGradientRunner, true],
  ['the whole step without constants', WholeGradientRunner, false],
  ['layer by layer', LayerwiseGradientRunner, false],
] as const;

interface Outcome {
  readonly loss: number;
  readonly gradients: FlatMatrices;
}

async function compute(runner: GradientRunner, inputs: TrainingInputs, run: TrainingRun): Promise<Outcome> {
  const gradients = gradientsOf(inputs);
  const loss = await runner.run(run, tensorsOver(gradients, gradientName), {});
  await runner.close();
  return { loss, gradients };
}

function gradientsOf({ config, modules }: TrainingInputs): FlatMatrices {
  return new FlatMatrices(moduleTensorSpecs(config, modules));
}

function inputsOf(
  config: DecoderConfig,
  weights: TrainingInputs['weights'],
  lora: LoraHyperparameters,
  matrices: ReadonlyMap<string, FloatTensor>,
): TrainingInputs {
  const feeds = Object.fromEntries([...matrices].map(([name, { shape, data }]) => [name, new Tensor(data, shape)]));
  const constants = SharedConstants.create(factorConstants(weights));
  return { config, format: 'f32', weights, matrices: feeds, modules: loraModules(config, lora), threads: 1, constants };
}

for (const name of fixtureNames) {
  for (const kind of ['hard', 'soft'] as const) {
    for (const [way, runnerClass, withConstants] of runners) {
      void test(`${name}, ${way}: loss and gradients of ${kind} targets equal those of peft`, async () => {
        const { config, weights, adapter, examples, expected } = await loadFixture(name);
        const batch = kind === 'hard' ? examples.map(({ sequence, weight }) => ({ sequence, weight })) : examples;
        const all = inputsOf(config, weightFeeds(config, weights), adapter, adapter.matrices);
        const inputs = withConstants ? all : { ...all, constants: undefined };
        const run = buildBatch(batch, config).parts[0]![0]!;
        assert.equal(run.packed, true);
        const { loss, gradients } = await compute(new runnerClass(inputs), inputs, run);
        assert.ok(relativeError(Float32Array.of(loss), expected.get(`${kind}.loss`)!.data) <= 1e-5);
        const references = [...expected.keys()].filter((key) => key.startsWith(`${kind}.gradient.`));
        assert.equal(references.length, gradients.matrices.size);
        for (const [matrix, { data }] of gradients.matrices) {
          const reference = expected.get(`${kind}.gradient.base_model.model.${matrix}.weight`);
          const error = relativeError(data, reference!.data);
          assert.ok(error <= 1e-3, `${matrix}: relative error ${error}`);
        }
      });
    }
  }
}

/** So wide that the low-rank term of `down_proj` is added to its products, not to the matrix. */
const wide: DecoderConfig = { ...tinyConfig, ffnSize: maxMergedWidth + 16 };
/** Layer 1 has a window and `deepLora` adapts layer 2 differently, so the layers have different graphs. */
const deep: DecoderConfig = { ...tinyConfig, layers: 5, layerWindows: [null, 3, null, null, null] };
const deepLora: LoraHyperparameters = { rank: 3, alpha: 5, rankPattern: new Map([['layers.2.mlp.up_proj', 2]]) };
const examples: readonly TrainingExample[] = [
  { sequence: { tokens: [3, 1, 4, 1, 5, 9, 2, 6, 5, 3], targetStart: 3 }, weight: 1 },
  { sequence: { tokens: [2, 7, 1, 8, 2], targetStart: 2 }, weight: 2 },
];

function deepInputs(lora: LoraHyperparameters, config = deep): TrainingInputs {
  const matrices = new FlatMatrices(moduleTensorSpecs(config, loraModules(config, lora)));
  matrices.values.set(
    freshMatrices(config, 8, 3)
      .values.map((x) => x + 0.01)
      .subarray(0, matrices.values.length),
  );
  return inputsOf(config, weightFeeds(config, randomWeights(config, 4)), lora, matrices.matrices);
}

for (const [name, lora, config] of [
  ['all layers', deepLora, deep],
  ['one projection of some layers', { rank: 2, alpha: 1, targets: ['k_proj'], layers: [1, 3] }, deep],
  ['the last layer only', { rank: 2, alpha: 1, layers: [4] }, deep],
  ['a single layer', { rank: 2, alpha: 1 }, { ...tinyConfig, layers: 1 }],
  ['a wide feed-forward block', { rank: 2, alpha: 3 }, wide],
] as const) {
  void test(`layer by layer gives the gradients of the whole step: ${name}`, async () => {
    const inputs = deepInputs(lora, config);
    const run = buildBatch(examples, config).parts[0]![0]!;
    const whole = await compute(new WholeGradientRunner(inputs), inputs, run);
    const layers = await compute(new LayerwiseGradientRunner(inputs), inputs, run);
    assert.ok(Math.abs(layers.loss - whole.loss) <= 1e-6 * whole.loss);
    for (const [matrix, { data }] of whole.gradients.matrices) {
      const error = relativeError(layers.gradients.matrices.get(matrix)!.data, data);
      assert.ok(error <= 1e-5, `${matrix}: relative error ${error}`);
    }
  });
}

void test('sequences that share a row have the loss and gradients that they have alone', async () => {
  const inputs = deepInputs(deepLora);
  const run = buildBatch(examples, deep).parts[0]![0]!;
  assert.equal(run.packed, true);
  const together = await compute(new WholeGradientRunner(inputs), inputs, run);
  const sum = new Float32Array(together.gradients.values.length);
  let loss = 0;
  for (const example of examples) {
    const alone = buildBatch([example], deep).parts[0]![0]!;
    assert.equal(alone.packed, false);
    const single = await compute(new WholeGradientRunner(inputs), inputs, alone);
    loss += (single.loss * example.weight) / 3;
    for (const [index, value] of single.gradients.values.entries()) sum[index]! += (value * example.weight) / 3;
  }
  assert.ok(Math.abs(together.loss - loss) <= 1e-6 * loss);
  assert.ok(relativeError(together.gradients.values, sum) <= 1e-5);
});

for (const [way, runnerClass] of [
  ['the whole step', WholeGradientRunner],
  ['layer by layer', LayerwiseGradientRunner],
] as const) {
  void test(`${way}: sequences that go on from one beginning have the loss and gradients that they have alone`, async () => {
    const inputs = deepInputs(deepLora);
    const beginning = [3, 1, 4, 1, 5, 9, 2, 6, 5];
    const related: readonly TrainingExample[] = [
      { sequence: { tokens: [...beginning, 3, 5, 8, 9], targetStart: 11 }, weight: 1 },
      { sequence: { tokens: [...beginning, 7, 9], targetStart: 10 }, weight: 2 },
      { sequence: { tokens: [...beginning, 3, 2, 3], targetStart: 10 }, weight: 0.5 },
      { sequence: { tokens: [2, 7, 1, 8, 2], targetStart: 2 }, weight: 1.5 },
    ];
    const batch = buildBatch(related, deep);
    assert.ok(batch.tokens < related.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0));
    const together = { loss: 0, values: new Float32Array(gradientsOf(inputs).values.length) };
    for (const run of batch.parts.flat()) {
      const { loss, gradients } = await compute(new runnerClass(inputs), inputs, run);
      together.loss += loss;
      gradients.values.forEach((value, index) => (together.values[index]! += value));
    }
    const apart = { loss: 0, values: new Float32Array(together.values.length) };
    for (const example of related) {
      const alone = buildBatch([example], deep).parts[0]![0]!;
      const single = await compute(new WholeGradientRunner(inputs), inputs, alone);
      apart.loss += (single.loss * example.weight) / 5;
      single.gradients.values.forEach((value, index) => (apart.values[index]! += (value * example.weight) / 5));
    }
    assert.ok(Math.abs(together.loss - apart.loss) <= 1e-6 * apart.loss);
    const error = relativeError(together.values, apart.values);
    assert.ok(error <= 1e-5, `relative error ${error}`);
  });
}

void test('layer by layer, a call is cancelled between layers', async () => {
  const inputs = deepInputs(deepLora);
  const run = buildBatch(examples, deep).parts[0]![0]!;
  const runner = new LayerwiseGradientRunner(inputs);
  const fetches = tensorsOver(gradientsOf(inputs), gradientName);
  // A step runs nine graphs: four layers forward, the top, and four layers backward. Each round cancels before one.
  for (let reads = 0; reads < 9; reads += 1) {
    await assert.rejects(runner.run(run, fetches, { signal: abortedAfter(reads) }), { code: 'cancelled' });
  }
  assert.ok(Number.isFinite(await runner.run(run, fetches, { signal: abortedAfter(9) })));
  await runner.close();
});

/** A fault injector: a signal that reads as aborted from the given read on. */
function abortedAfter(reads: number): AbortSignal {
  let count = 0;
  return Object.defineProperty(new AbortController().signal, 'aborted', { get: () => count++ >= reads });
}

void test('an example in pieces has the loss and gradients that it has whole', async () => {
  const inputs = deepInputs(deepLora);
  const example: TrainingExample = {
    ...examples[0]!,
    softTargets: [1, 5, 9, 2, 6, 5, 3].map((id) => ({ ids: [id, id + 20], logprobs: [-0.5, -1] })),
  };
  const batch = [example, examples[1]!];
  const [run, ...others] = buildBatch(batch, deep).parts[0]!;
  assert.deepEqual(others, []);
  const whole = await compute(new WholeGradientRunner(inputs), inputs, run!);
  const [runs = []] = buildBatch(batch, deep, { maxRunLogits: 3 * deep.vocabularySize }).parts;
  assert.ok(runs.length >= 3);
  const sum = new Float32Array(whole.gradients.values.length);
  let loss = 0;
  for (const piece of runs) {
    const part = await compute(new LayerwiseGradientRunner(inputs), inputs, piece);
    loss += part.loss;
    part.gradients.values.forEach((value, index) => (sum[index]! += value));
  }
  assert.ok(Math.abs(loss - whole.loss) <= 1e-6 * whole.loss);
  const error = relativeError(sum, whole.gradients.values);
  assert.ok(error <= 1e-5, `relative error ${error}`);
});
