import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loraModules } from '../adapters/loraModules.js';
import { weightFeeds } from '../model/inputs.js';
import { gradientName } from '../model/loraParameters.js';
import { sum } from '../support/numbers.js';
import { createRandom } from '../support/random.js';
import { randomWeights, relativeError, tinyConfig } from '../testing/fixtures.js';
import { randomExamples } from '../testing/trainingExamples.js';
import type { TrainingExample } from '../types.js';
import { buildBatch } from './batch.js';
import { WholeGradientRunner } from './gradientRunner.js';
import { FlatMatrices, freshMatrices, tensorsOver } from './parameters.js';

test('the two parts of a batch have the loss and gradient that its examples have alone', async () => {
  const config = tinyConfig;
  const weights = weightFeeds(config, randomWeights(config, 5));
  const large = randomExamples(12, 40);
  const matrices = freshMatrices(config, 4, 1);
  const random = createRandom(3);
  for (let index = 0; index < matrices.values.length; index += 1) matrices.values[index] = random.next() - 0.5;
  const modules = loraModules(config, { rank: 4, alpha: 8 });
  const feeds = tensorsOver(matrices, (name) => name);
  const runner = new WholeGradientRunner({
    config,
    format: 'f32',
    weights,
    modules,
    matrices: feeds,
    threads: 1,
    constants: undefined,
  });
  /** Returns the loss, followed by the gradient. */
  const compute = async (batch: readonly TrainingExample[]): Promise<Float32Array> => {
    const total = new Float32Array(1 + matrices.values.length);
    for (const run of buildBatch(batch, config).parts.flat()) {
      const gradients = new FlatMatrices(matrices.specs);
      const loss = await runner.run(run, tensorsOver(gradients, gradientName), {});
      for (const [index, value] of [loss, ...gradients.values].entries()) total[index]! += value;
    }
    return total;
  };
  const parts = await compute(large);
  const alone = new Float32Array(parts.length);
  const weightSum = sum(large.map(({ weight }) => weight));
  for (const example of large) {
    const one = await compute([example]);
    for (const [index, value] of one.entries()) alone[index]! += (value * example.weight) / weightSum;
  }
  await runner.close();
  assert.equal(buildBatch(large, config).parts.length, 2);
  assert.ok(Math.abs(parts[0]! - alone[0]!) <= 1e-5 * alone[0]!);
  assert.ok(relativeError(parts.subarray(1), alone.subarray(1)) <= 1e-5);
});

test('two parts hold every example once, and as many tokens each but for less than an example', () => {
  const lengths = fc.array(fc.integer({ min: 2, max: 48 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(lengths, (all) => {
      const batch = all.map((length, index): TrainingExample => {
        const tokens = Array.from({ length }, () => index + 1);
        return { sequence: { tokens, targetStart: length - 1 }, weight: 1 };
      });
      const { parts, tokens } = buildBatch(batch, tinyConfig);
      const seen = parts.map((runs) => {
        const counts = new Map<number, number>();
        for (const id of runs.flatMap(({ feeds: { ids } }) => [...(ids!.data as BigInt64Array)])) {
          if (id > 0n) counts.set(Number(id), (counts.get(Number(id)) ?? 0) + 1);
        }
        return counts;
      });
      assert.deepEqual(
        seen.flatMap((counts) => [...counts]).sort(([a], [b]) => a - b),
        all.map((length, index) => [index + 1, length]),
      );
      assert.equal(parts.length, tokens < 256 || all.length < 2 ? 1 : 2);
      if (parts.length === 1) return;
      const [first, second] = seen.map((counts) => sum([...counts.values()]));
      assert.ok(Math.abs(first! - second!) <= Math.max(...all));
    }),
  );
});
