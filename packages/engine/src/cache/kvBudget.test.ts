import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { tinyConfig } from '../testing/fixtures.js';
import { job } from '../testing/generators.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { TestAdapters } from '../testing/testAdapters.js';
import { Generator } from '../scheduling/generator.js';
import { cacheBytes, defaultLimits } from './kvBudget.js';
import { slotCapacity } from './kvCache.js';

test('a slot has room for what it must hold, and at most a quarter more beyond the first step', () => {
  for (let tokens = 1; tokens < 5000; tokens += 1) {
    const capacity = slotCapacity(tokens);
    assert.ok(capacity >= tokens && capacity % 64 === 0, `${tokens}`);
    assert.ok(capacity - tokens < 64 || capacity <= tokens * 1.25, `${tokens}`);
  }
});

test('under a bound for one sequence at a time, requests wait for each other in the order of their arrival', async () => {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const model = { config, weights: await SharedWeights.open(config, weights), threads: 1 };
    const unbounded = new Generator(model, new TestAdapters(), 8);
    const bound = cacheBytes(config, [100], 88);
    const generator = new Generator(model, new TestAdapters(), 8, { maxCacheBytes: bound, maxPrefixBytes: 0 });
    const large = job({ prompt: Array.from({ length: 88 }, (_, index) => index) });
    const jobs = [job(), large, job(), job(), large, job()];
    const ended: number[] = [];
    const results = await Promise.all(
      jobs.map(async (one, index) => {
        const result = await generator.generate(one);
        ended.push(index);
        return result;
      }),
    );
    assert.deepEqual(results, await Promise.all(jobs.map((one) => unbounded.generate(one))));
    const places = [0, 1, 4].map((index) => ended.indexOf(index));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      'a large one is not overtaken',
    );
    await assert.rejects(generator.generate({ ...large, maxOutputTokens: 200 }), {
      code: 'memory_exceeded',
      message: new RegExp(`288 tokens .* ${bound} bytes`),
    });
    await generator.close();
    await unbounded.close();
  });
});

test('by default one sequence that fills the context always fits', () => {
  const vast = { ...tinyConfig, contextLength: 2 ** 24 };
  assert.ok(cacheBytes(vast, [vast.contextLength], vast.contextLength) > 2 * 2 ** 30);
  for (const config of [tinyConfig, vast]) {
    const needed = cacheBytes(config, [config.contextLength], config.contextLength);
    assert.ok(needed <= defaultLimits(config).maxCacheBytes);
  }
});

test('whatever batches came before, what is allocated stays within the bound, and everybody gets an answer', async () => {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const model = { config, weights: await SharedWeights.open(config, weights), threads: 1 };
    // One long sequence fits, or four short ones.
    const bound = cacheBytes(config, [256], 200);
    const length = fc.record({ prompt: fc.integer({ min: 1, max: 200 }), output: fc.integer({ min: 1, max: 4 }) });
    const waves = fc.array(fc.array(length, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
    const shrinking = [[{ prompt: 200, output: 4 }], Array.from({ length: 4 }, () => ({ prompt: 60, output: 4 }))];
    const growing = shrinking.toReversed();
    await fc.assert(
      fc.asyncProperty(waves, async (batches) => {
        const generator = new Generator(model, new TestAdapters(), 6, { maxCacheBytes: bound, maxPrefixBytes: 0 });
        const isComplete = (): boolean => {
          assert.ok(generator.cacheBytes <= bound, `${generator.cacheBytes} of ${bound} bytes`);
          return false;
        };
        for (const batch of batches) {
          const results = await Promise.all(
            batch.map(({ prompt, output }) => {
              const tokens = Array.from({ length: prompt }, (_, index) => index % 50);
              // Forced tokens are read together with the prompt.
              const forced = output === 4 ? [3, 5] : [];
              return generator.generate(job({ prompt: tokens, forced, maxOutputTokens: output, isComplete }));
            }),
          );
          assert.deepEqual(
            results.map(({ tokens }) => tokens.length),
            batch.map(({ output }) => output),
          );
        }
        await generator.close();
      }),
      { numRuns: 20, examples: [[shrinking], [growing]] },
    );
  });
});
