import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EngineError } from '../engine.js';
import { weightFeeds } from '../model/inputs.js';
import { createRandom } from '../random.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { AdapterCache, type LoadedAdapter } from './adapterCache.js';
import { Generator, type GenerationJob } from './generator.js';

interface Setting {
  readonly generator: Generator;
  readonly adapter: LoadedAdapter;
}

async function withGenerator(use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const generator = new Generator({ config, weights: weightFeeds(config, weights), threads: 1 }, 3);
    const reference = await writeRandomAdapter(join(folder, 'adapter'), config, 1);
    try {
      await use({ generator, adapter: await new AdapterCache(config, 2 ** 30).get(reference) });
    } finally {
      await generator.close();
    }
  });
}

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

/** A fault injector: asks for the end of the world at the third token. */
function failAtThirdToken(output: readonly number[]): boolean {
  if (output.length === 3) throw new Error('injected');
  return false;
}

test('what goes wrong in one sequence ends no other', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job());
    const notANumber = new Map(
      [...adapter.matrices].map(([name, { shape, data }]) => [name, { shape, data: data.map(() => NaN) }]),
    );
    const [spared, spared_too, ...failed] = await Promise.allSettled([
      generator.generate(job()),
      generator.generate(job({ adapter })),
      generator.generate(job({ isComplete: failAtThirdToken })),
      generator.generate(job({ adapter: { ...adapter, matrices: notANumber } })),
    ]);
    assert.deepEqual(spared, { status: 'fulfilled', value: expected });
    assert.equal(spared_too.status, 'fulfilled');
    for (const outcome of failed) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof EngineError);
      assert.deepEqual([outcome.reason.code, outcome.reason.repeatable], ['internal', false]);
    }
    assert.deepEqual(await generator.generate(job()), expected);
  });
});

test('a run that fails for all ends all of them but nobody who waits, and each may be repeated', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job());
    let looks = 0;
    // A fault injector: the adapter is readable for its own prompt, and not when it is stacked for a batch.
    const unreadable: LoadedAdapter = {
      ...adapter,
      get matrices() {
        looks += 1;
        if (looks > adapter.matrices.size) throw new Error('injected');
        return adapter.matrices;
      },
    };
    const shared = [generator.generate(job()), generator.generate(job({ adapter: unreadable }))];
    const waiting = generator.generate(job());
    const outcomes = await Promise.allSettled(shared);
    for (const outcome of outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof EngineError);
      assert.deepEqual([outcome.reason.code, outcome.reason.repeatable], ['batch_lost', true]);
    }
    assert.deepEqual(await waiting, expected);
    assert.deepEqual(await generator.generate(job()), expected);
  });
});
