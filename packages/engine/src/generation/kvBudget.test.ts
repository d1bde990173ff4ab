import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { weightFeeds } from '../model/inputs.js';
import { createRandom } from '../random.js';
import { TINY_CONFIG } from '../testing/fixtures.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import { Generator, type GenerationJob } from './generator.js';
import { cacheBytes, defaultLimits } from './kvBudget.js';
import { slotCapacity } from './kvCache.js';

const job = (changes: Partial<GenerationJob> = {}): GenerationJob => ({
  prompt: [7, 11, 13],
  forced: [],
  maxOutputTokens: 12,
  stopTokens: new Set(),
  temperature: 0,
  random: createRandom(1),
  adapter: null,
  ...changes,
});

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
    const model = { config, weights: weightFeeds(config, weights), threads: 1 };
    const unbounded = new Generator(model, 8);
    const bound = cacheBytes(config, [100], 88);
    const generator = new Generator(model, 8, { cacheBytes: bound, prefixBytes: 0 });
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
  const vast = { ...TINY_CONFIG, contextLength: 2 ** 24 };
  assert.ok(cacheBytes(vast, [vast.contextLength], vast.contextLength) > 2 * 2 ** 30);
  for (const config of [TINY_CONFIG, vast]) {
    const needed = cacheBytes(config, [config.contextLength], config.contextLength);
    assert.ok(needed <= defaultLimits(config).cacheBytes);
  }
});
