import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readAdapter } from '../adapters/adapterFolder.js';
import { readHeaderFrom, type TensorEntry } from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { weightFeeds } from '../model/inputs.js';
import {
  greatestDifference,
  unmanagedWeights,
  randomWeights,
  relativeError,
  temporaryFolder,
  tinyConfig,
} from '../testing/fixtures.js';
import { scoreEverything } from '../testing/runs.js';
import type { AdapterReference, TrainingExample, TrainingOptions } from '../types.js';
import { sum } from '../support/numbers.js';
import { activationBytes, layerwiseBytes } from './activations.js';
import { buildBatch, requireMemory } from './batch.js';
import { WholeGradientRunner } from './gradientRunner.js';
import { LayerwiseGradientRunner } from './layerwiseRunner.js';
import { openTrainingSession, type TrainingModel } from './trainingSession.js';

const fresh: TrainingOptions = { parent: null, rank: 4, alpha: 8, seed: 1 };
const tinyWeights = randomWeights(tinyConfig, 5);
const model: TrainingModel = {
  config: tinyConfig,
  weights: unmanagedWeights(weightFeeds(tinyConfig, tinyWeights)),
  name: 'tiny',
  threads: 1,
};
const examples: readonly TrainingExample[] = [
  { sequence: { tokens: [1, 2, 3, 4, 5, 6, 7, 8], targetStart: 4 }, weight: 1 },
  { sequence: { tokens: [9, 10, 11, 12, 13], targetStart: 2 }, weight: 2 },
  { sequence: { tokens: [14, 15, 16], targetStart: 1 }, weight: 1 },
];

void test('training lowers the loss, and the same seed gives the same adapter', async (t) => {
  const folder = await temporaryFolder(t);
  const hashes: string[] = [];
  for (const [name, seed] of [
    ['first', 1],
    ['again', 1],
    ['other', 2],
  ] as const) {
    const session = await openTrainingSession(model, { ...fresh, seed, clipNorm: 1, weightDecay: 0.01 });
    const before = await session.evaluate(examples);
    assert.equal(before.tokens, 16);
    for (let step = 0; step < 20; step += 1) {
      const { loss, gradientNorm } = await session.step(examples, 0.02);
      if (step === 0) assert.ok(Math.abs(loss - before.loss) < 1e-5);
      assert.ok(gradientNorm > 0);
    }
    const after = await session.evaluate(examples);
    assert.ok(after.loss < before.loss / 10, `${before.loss} to ${after.loss}`);
    hashes.push((await session.save(path.join(folder, name))).contentHash);
    await session.close();
  }
  assert.equal(hashes[0], hashes[1]);
  assert.notEqual(hashes[0], hashes[2]);
});

void test('a fresh adapter begins as the base model', async () => {
  const session = await openTrainingSession(model, fresh);
  const { loss } = await session.evaluate(examples);
  assert.ok(Math.abs(loss - (await scoredLoss(null))) < 1e-5);
  await session.close();
});

void test('a saved adapter scores as it was trained, and a child session starts from it', async (t) => {
  const folder = await temporaryFolder(t);
  const session = await openTrainingSession(model, fresh);
  for (let step = 0; step < 3; step += 1) await session.step(examples, 0.02);
  const { loss } = await session.evaluate(examples);
  const saved = await session.save(path.join(folder, 'parent'));
  await session.close();
  const adapter = await readAdapter(saved, tinyConfig);
  assert.deepEqual([adapter.rank, adapter.alpha], [4, 8]);
  assert.ok(Math.abs((await scoredLoss(adapter)) - loss) < 1e-4);

  const child = await openTrainingSession(model, { ...fresh, parent: saved, rank: 2, alpha: 1, seed: 9 });
  assert.ok(Math.abs((await child.evaluate(examples)).loss - loss) < 1e-5);
  const copy = await child.save(path.join(folder, 'child'));
  assert.equal(copy.contentHash, saved.contentHash, 'an untouched child is its parent');
  await child.step(examples, 0.02);
  assert.notEqual((await child.save(path.join(folder, 'trained'))).contentHash, saved.contentHash);
  await child.close();
});

void test('saved in F16 an adapter is half as large, loads, and answers nearly as before', async (t) => {
  const folder = await temporaryFolder(t);
  const session = await openTrainingSession(model, fresh);
  for (let step = 0; step < 20; step += 1) await session.step(examples, 0.02);
  const whole = await session.save(path.join(folder, 'whole'));
  const half = await session.save(path.join(folder, 'half'), 'F16');
  await session.close();
  const [wholeFiles, halfFiles] = await Promise.all([whole, half].map(readFiles));
  assert.deepEqual(halfFiles!.config, wholeFiles!.config);
  const context = { code: 'adapter_invalid', file: 'half' } as const;
  const [wholeEntries, halfEntries] = [wholeFiles!, halfFiles!].map(({ weights }) => readHeaderFrom(weights, context));
  assert.deepEqual(
    halfEntries!.map(({ name, type, shape }) => ({ name, type, shape })),
    wholeEntries!.map(({ name, shape }) => ({ name, type: 'F16', shape })),
  );
  const bytes = (entries: readonly TensorEntry[]): number => entries.at(-1)!.end - entries[0]!.start;
  assert.equal(2 * bytes(halfEntries!), bytes(wholeEntries!));

  const logprobs = async (adapter: LoraAdapter | null): Promise<number[]> => {
    const sequences = examples.map(({ sequence }) => sequence.tokens);
    const scores = await scoreEverything({ config: tinyConfig, weights: tinyWeights }, adapter, sequences);
    return scores.flat().flatMap((row) => [...row]);
  };
  const base = await logprobs(null);
  const trained = await logprobs(await readAdapter(whole, tinyConfig));
  const rounded = await logprobs(await readAdapter(half, tinyConfig));
  // Rounding changes each factor of an update B·A by up to 2^-11 of itself, so about a thousandth of the adapter's
  // effect. The bound is ten times that, because the errors of the layers add up.
  assert.ok(greatestDifference(rounded, trained) <= 0.01 * greatestDifference(trained, base));
  assert.notDeepEqual(rounded, trained);
});

void test('a batch in several runs has the loss and gradient of the batch in one', async () => {
  const config = { ...tinyConfig, contextLength: 1200 };
  const weights = unmanagedWeights(weightFeeds(config, tinyWeights));
  const tokens = Array.from({ length: 1100 }, (_, index) => (index * index) % config.vocabularySize);
  const example = { sequence: { tokens, targetStart: 1090 }, weight: 1 };
  const copies = [example, { ...example, weight: 5 }, example, { ...example, weight: 2 }];
  assert.deepEqual(
    buildBatch(copies, config).parts.map((runs) => runs.length),
    [2, 2],
  );
  const session = await openTrainingSession({ ...model, config, weights }, fresh);
  const one = await session.step([example], 0);
  const two = await session.step(copies, 0);
  assert.ok(Math.abs(two.loss - one.loss) < 1e-5 * one.loss);
  assert.ok(Math.abs(two.gradientNorm - one.gradientNorm) < 1e-5 * one.gradientNorm);
  const evaluated = await session.evaluate(copies);
  assert.ok(Math.abs(evaluated.loss - one.loss) < 1e-5 * one.loss);
  await session.close();
});

void test('with little memory the layers are trained one by one, to the same adapter', async (t) => {
  const folder = await temporaryFolder(t);
  const adapters: Float32Array[] = [];
  for (const [name, maxActivationBytes] of [
    ['whole', Infinity],
    ['layerwise', 0],
  ] as const) {
    const session = await openTrainingSession(model, { ...fresh, maxActivationBytes });
    for (let step = 0; step < 5; step += 1) await session.step(examples, 0.01);
    const saved = await session.save(path.join(folder, name));
    const { matrices } = await readAdapter(saved, tinyConfig);
    adapters.push(Float32Array.from([...matrices.values()].flatMap(({ data }) => [...data])));
    await session.close();
  }
  assert.ok(relativeError(adapters[1]!, adapters[0]!) <= 1e-3);
});

void test('a step is computed whole as long as its activations fit, and layer by layer from one byte less on', async (t) => {
  const [run, ...others] = buildBatch(examples, tinyConfig).parts[0]!;
  assert.deepEqual(others, []);
  const bytes = activationBytes(tinyConfig, run!);
  const whole = t.mock.method(WholeGradientRunner.prototype, 'run').mock;
  const layerwise = t.mock.method(LayerwiseGradientRunner.prototype, 'run').mock;
  for (const [maxActivationBytes, calls] of [
    [bytes, [1, 0]],
    [bytes - 1, [1, 1]],
  ] as const) {
    const session = await openTrainingSession(model, { ...fresh, maxActivationBytes });
    await session.step(examples, 0.01);
    assert.deepEqual([whole.callCount(), layerwise.callCount()], calls, `with ${maxActivationBytes} of ${bytes} bytes`);
    await session.close();
  }
});

void test('a sequence that would not fit even layer by layer is refused, and the session goes on', async () => {
  const config = { ...tinyConfig, contextLength: 2 ** 16 };
  const session = await openTrainingSession(
    { ...model, config, weights: unmanagedWeights(weightFeeds(config, tinyWeights)) },
    fresh,
  );
  const tokens = new Array<number>(2 ** 15).fill(1);
  const batch = [...examples, { sequence: { tokens, targetStart: tokens.length - 1 }, weight: 1 }];
  const refusal = {
    name: 'EngineError',
    code: 'memory_exceeded',
    message:
      'batch[3].sequence has 32768 tokens, which take 528491743728 bytes even layer by layer; ' +
      'at most 17179869184 are allowed: shorten it or raise maxActivationBytes',
  };
  await assert.rejects(session.step(batch, 0.02), refusal);
  await assert.rejects(session.evaluate(batch), refusal);
  assert.ok((await session.step(examples, 0.02)).loss > 0);
  await session.close();
  // A larger bound on a whole step also holds for a step computed layer by layer.
  requireMemory(batch, config, 2 ** 42);
  const largest = { rows: 1, length: 8, targets: 4 };
  const [whole, layerwise] = [activationBytes(tinyConfig, largest), layerwiseBytes(tinyConfig, largest)];
  requireMemory(examples, tinyConfig, 0, layerwise);
  requireMemory(examples, tinyConfig, whole, 0);
  assert.throws(() => requireMemory(examples, tinyConfig, Math.min(whole, layerwise) - 1, layerwise - 1), {
    code: 'memory_exceeded',
    message: /^batch\[0\]/,
  });
});

void test('closing during a call ends it with a typed error, and frees nothing that it uses', async (t) => {
  const folder = await temporaryFolder(t);
  for (const maxActivationBytes of [Infinity, 0]) {
    // The session is closed at each moment from the beginning of the call to the middle of its runs.
    for (let turns = 0; turns < 8; turns += 1) {
      const session = await openTrainingSession(model, { ...fresh, maxActivationBytes });
      const calls = [session.step(examples, 0.02), session.evaluate(examples)];
      const saving = session.save(path.join(folder, `${maxActivationBytes}-${turns}`));
      const ended = Promise.allSettled(calls);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      let closed = false;
      const closing = session.close().then(() => (closed = true));
      for (const call of calls) void call.catch(() => undefined).finally(() => assert.equal(closed, false));
      for (const outcome of await ended) {
        if (outcome.status === 'fulfilled') assert.ok(outcome.value.loss > 0);
        else
          assert.ok(
            outcome.reason instanceof EngineError && outcome.reason.code === 'cancelled',
            String(outcome.reason),
          );
        if (turns === 0) assert.equal(outcome.status, 'rejected');
      }
      await closing;
      assert.ok((await readAdapter(await saving, tinyConfig)).rank > 0);
    }
  }
});

void test('cancelling, closing and wrong options are told apart', async () => {
  const session = await openTrainingSession(model, fresh);
  const signal = AbortSignal.abort();
  await assert.rejects(session.step(examples, 0.1, { signal }), { code: 'cancelled' });
  await assert.rejects(session.step(examples, -1), { code: 'invalid_request', message: /learningRate/ });
  await assert.rejects(session.step([], 0.1), { code: 'invalid_request', message: /batch/ });
  await session.close();
  await assert.rejects(session.step(examples, 0.1), { code: 'invalid_request', message: /closed/ });
  for (const [field, value] of [
    ['rank', 0],
    ['alpha', 0],
    ['seed', 0.5],
    ['weightDecay', -1],
    ['betas', [0.9, 1]],
    ['clipNorm', 0],
    ['maxActivationBytes', -1],
  ]) {
    const options = { ...fresh, [String(field)]: value };
    await assert.rejects(openTrainingSession(model, options), {
      code: 'invalid_request',
      message: new RegExp(String(field)),
    });
  }
});

async function readFiles({ folder }: AdapterReference): Promise<{ readonly config: Buffer; readonly weights: Buffer }> {
  const [config, weights] = await Promise.all(
    ['adapter_config.json', 'adapter_model.safetensors'].map((name) => readFile(path.join(folder, name))),
  );
  return { config: config!, weights: weights! };
}

/** Computes the loss of `examples` from scored log-probabilities. */
async function scoredLoss(adapter: LoraAdapter | null): Promise<number> {
  const sequences = examples.map(({ sequence }) => sequence.tokens);
  const scores = await scoreEverything({ config: tinyConfig, weights: tinyWeights }, adapter, sequences);
  let total = 0;
  for (const [row, { sequence, weight }] of examples.entries()) {
    const targets = sequence.tokens.slice(sequence.targetStart);
    const losses = targets.map((token, index) => -scores[row]![sequence.targetStart + index - 1]![token]!);
    total += (weight / 4) * (sum(losses) / losses.length);
  }
  return total;
}
