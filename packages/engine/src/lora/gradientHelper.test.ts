import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { loraModules } from '../adapters/loraModules.js';
import { weightFeeds } from '../model/inputs.js';
import { weightCount } from '../model/weights.js';
import { SharedConstants } from '../onnx/sharedConstants.js';
import { sum } from '../support/numbers.js';
import { unmanagedWeights, randomWeights, temporaryFolder, tinyConfig } from '../testing/fixtures.js';
import { randomExamples } from '../testing/trainingExamples.js';
import type { TrainingOptions } from '../types.js';
import { activationBytes, fitsWeightCopies } from './activations.js';
import { buildBatch } from './batch.js';
import type { TrainingRun } from './runLayout.js';
import { GradientHelper, type HelpOptions } from './gradientHelper.js';
import { WholeGradientRunner } from './gradientRunner.js';
import { freshMatrices } from './parameters.js';
import { openTrainingSession, type TrainingModel } from './trainingSession.js';

const fresh: TrainingOptions = { parent: null, rank: 4, alpha: 8, seed: 1, clipNorm: 1 };
/** The size of all weights in bytes. */
const bytes = weightCount(tinyConfig) * Float32Array.BYTES_PER_ELEMENT;
const model: TrainingModel = {
  config: tinyConfig,
  weights: unmanagedWeights(weightFeeds(tinyConfig, randomWeights(tinyConfig, 5))),
  name: 'tiny',
  threads: 1,
};

const large = randomExamples(12, 40);
const largestDifference = randomExamples(100, 40);
const small = randomExamples(3, 9);

for (const [how, maxActivationBytes, largest, largestRuns] of [
  ['with constants', 64 * bytes, largestDifference, 6],
  // More examples would not fit within this bound.
  ['without constants', 64 * bytes - 1, randomExamples(30, 40), 3],
] as const) {
  test(`${how}, a helper gives the losses and the adapter of one thread to the last bit`, async (t) => {
    const folder = await temporaryFolder(t);
    const helped = t.mock.method(GradientHelper.prototype, 'compute').mock;
    const shared = t.mock.method(SharedConstants, 'create').mock;
    const run = t.mock.method(WholeGradientRunner.prototype, 'run').mock;
    const hashes: string[] = [];
    const calls: (readonly number[])[] = [];
    for (const threads of [1, 2]) {
      const session = await openTrainingSession({ ...model, threads }, { ...fresh, maxActivationBytes });
      const losses: number[] = [];
      for (const batch of [large, small, largest, large]) losses.push((await session.step(batch, 0.01)).loss);
      losses.push((await session.evaluate(large)).loss, (await session.evaluate(small)).loss);
      // Saving computes the losses of the probe.
      calls.push([run.callCount(), helped.callCount()]);
      hashes.push(`${(await session.save(path.join(folder, `${threads}`))).contentHash} ${losses.join(' ')}`);
      run.resetCalls();
      await session.close();
    }
    assert.equal(hashes[1], hashes[0]);
    // `large` has two parts of one run each, `small` has one part. The helper computes the second parts.
    const [first, second] = [3 + 2 + largestRuns, 3 + largestRuns];
    assert.deepEqual(calls, [[first + second, 0] as const, [first, second] as const]);
    assert.equal(shared.callCount(), how === 'with constants' ? 2 : 0);
  });
}

test('two parts are computed at once only where both fit into memory', async (t) => {
  const batch = randomExamples(72, 40);
  const { parts } = buildBatch(batch, tinyConfig);
  const largest = parts.map((runs) => Math.max(...runs.map((run) => activationBytes(tinyConfig, run))));
  const both = sum(largest);
  assert.ok(fitsWeightCopies(tinyConfig, both - 1), 'runs are as long as those of `buildBatch`');
  const helped = t.mock.method(GradientHelper.prototype, 'compute').mock;
  const norms: number[] = [];
  for (const [maxActivationBytes, calls] of [
    [both, parts[1]!.length],
    [both - 1, parts[1]!.length],
  ] as const) {
    const session = await openTrainingSession({ ...model, threads: 2 }, { ...fresh, maxActivationBytes });
    norms.push((await session.step(batch, 0)).gradientNorm);
    assert.equal(helped.callCount(), calls, `with ${maxActivationBytes} of ${both} bytes`);
    await session.close();
  }
  assert.equal(norms[0], norms[1]);
});

test('what a helper that ends has not computed is computed without it, and so is what follows', async (t) => {
  const folder = await temporaryFolder(t);
  const hashes: string[] = [];
  for (const failing of [false, true]) {
    const session = await openTrainingSession({ ...model, threads: 2 }, fresh);
    await session.step(large, 0.01);
    if (failing) {
      // A fault injector: the thread ends instead of being told what to do.
      t.mock.method(Worker.prototype, 'postMessage', function (this: Worker) {
        void this.terminate();
      });
    }
    const helped = t.mock.method(GradientHelper.prototype, 'compute').mock;
    for (let step = 0; step < 3; step += 1) await session.step(large, 0.01);
    assert.equal(helped.callCount(), failing ? 1 : 3);
    hashes.push((await session.save(path.join(folder, `${failing}`))).contentHash);
    await session.close();
    t.mock.restoreAll();
  }
  assert.equal(hashes[0], hashes[1]);
});

test('a helper that fails in the middle of its runs is done without, and the process goes on', async (t) => {
  const folder = await temporaryFolder(t);
  const hashes: string[] = [];
  for (const failing of [false, true]) {
    const session = await openTrainingSession({ ...model, threads: 2 }, fresh);
    await session.step(largestDifference, 0.01);
    const compute = Object.getOwnPropertyDescriptor(GradientHelper.prototype, 'compute')
      ?.value as GradientHelper['compute'];
    const helped = t.mock.method(
      GradientHelper.prototype,
      'compute',
      function (this: GradientHelper, run: TrainingRun, options: HelpOptions) {
        const { ids, ...others } = run.feeds;
        // A fault injector: one run is without its tokens.
        const isBroken = failing && options.index === 2 && ids !== undefined;
        return compute.call(this, isBroken ? { ...run, feeds: others } : run, options);
      },
    ).mock;
    for (let step = 0; step < 2; step += 1) await session.step(largestDifference, 0.01);
    // Each step asks for one run ahead, so a fourth is under way when the third fails.
    assert.equal(helped.callCount(), failing ? 4 : 12);
    hashes.push((await session.save(path.join(folder, `${failing}`))).contentHash);
    await session.close();
    t.mock.restoreAll();
  }
  assert.equal(hashes[0], hashes[1]);
});

test('cancelling or closing in the middle of a shared step ends it with a typed error', async (t) => {
  const folder = await temporaryFolder(t);
  const session = await openTrainingSession({ ...model, threads: 2 }, fresh);
  await session.step(large, 0.01);
  const before = await session.save(path.join(folder, 'before'));
  const helped = t.mock.method(GradientHelper.prototype, 'compute').mock;
  const controller = new AbortController();
  const cancelled = assert.rejects(session.step(large, 0.01, { signal: controller.signal }), { code: 'cancelled' });
  while (helped.callCount() === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await cancelled;
  assert.equal((await session.save(path.join(folder, 'after'))).contentHash, before.contentHash);
  const step = assert.rejects(session.step(large, 0.01), { name: 'EngineError', code: 'cancelled' });
  await session.close();
  await step;
});

test('an idle helper keeps no process alive', async () => {
  const script = `
    const { unmanagedWeights, randomWeights, tinyConfig } = await import('../testing/fixtures.js');
    const { weightFeeds } = await import('../model/inputs.js');
    const { openTrainingSession } = await import('./trainingSession.js');
    const weights = unmanagedWeights(weightFeeds(tinyConfig, randomWeights(tinyConfig, 5)));
    const model = { config: tinyConfig, weights, name: 'tiny', threads: 2 };
    const session = await openTrainingSession(model, { parent: null, rank: 4, alpha: 8, seed: 1 });
    const example = { sequence: { tokens: Array(40).fill(1), targetStart: 1 }, weight: 1 };
    await session.step(Array(12).fill(example), 0.01);
    console.log('never closed');
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  });
  assert.equal(stdout, 'never closed\n');
});

test('what goes wrong in the helper is told, and a cancelled step never reaches it', async (t) => {
  const { config } = model;
  const { feeds: weights, format } = model.weights;
  const matrices = freshMatrices(config, 4, 1);
  const inputs = { config, format, weights, modules: loraModules(config, fresh), threads: 1, constants: undefined };
  const helper = new GradientHelper(inputs, matrices);
  const [run] = buildBatch(small, config).parts[0]!;
  const { ids, ...feeds } = run!.feeds;
  assert.ok(ids !== undefined);
  const options = { gradients: true, index: 0, count: 1 };
  await assert.rejects(helper.compute({ ...run!, feeds }, options), { name: 'EngineError', code: 'internal' });
  assert.ok((await helper.compute(run!, { ...options, gradients: false })) > 0);
  // A thread that was restarted within a sum would see such an index.
  await assert.rejects(helper.compute(run!, { ...options, index: 2, count: 3 }), { message: /run 2 does not follow/ });
  await helper.close();
  await assert.rejects(helper.compute(run!, options), { code: 'cancelled' });

  const helped = t.mock.method(GradientHelper.prototype, 'compute').mock;
  const session = await openTrainingSession({ ...model, threads: 2 }, fresh);
  await assert.rejects(session.step(large, 0.01, { signal: AbortSignal.abort() }), { code: 'cancelled' });
  assert.equal(helped.callCount(), 0);
  assert.ok((await session.step(large, 0.01)).loss > 0);
  await session.close();
});

test(
  'when a training is closed, nothing of its helper stays',
  { skip: process.platform !== 'linux' && 'threads are counted in /proc' },
  async (t) => {
    const ended: string[] = [];
    const closeHelper = Object.getOwnPropertyDescriptor(GradientHelper.prototype, 'close')
      ?.value as () => Promise<void>;
    t.mock.method(GradientHelper.prototype, 'close', async function (this: GradientHelper) {
      await closeHelper.call(this);
      ended.push('helper');
    });
    const release = Object.getOwnPropertyDescriptor(SharedConstants.prototype, 'release')?.value as () => void;
    t.mock.method(SharedConstants.prototype, 'release', function (this: SharedConstants) {
      release.call(this);
      ended.push('constants');
    });
    const threads: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      // The session and its helper get two threads each.
      const session = await openTrainingSession({ ...model, threads: 4 }, fresh);
      await session.step(large, 0.01);
      await session.close();
      threads.push(Number(/^Threads:\s+(\d+)$/mu.exec(await readFile('/proc/self/status', 'utf8'))?.[1]));
    }
    assert.deepEqual(threads.slice(1), threads.slice(1).fill(threads[1]!));
    assert.deepEqual(ended, Array.from({ length: 4 }, () => ['helper', 'constants']).flat());
  },
);
