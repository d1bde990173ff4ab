/** Reuse of attention state changes what is computed, never what is answered. */
import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { createRandom } from '../support/random.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import type { JobChanges } from '../testing/runs.js';
import { referenceFor, TestAdapters } from '../testing/testAdapters.js';
import type { AdapterReference, ChatMessage, GenerateRequest } from '../types.js';
import { loadAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import type { Generation, GenerationJob } from '../scheduling/generationJob.js';
import { Generator } from '../scheduling/generator.js';
import { prefillChunk } from './prefixCache.js';
import { bytesPerToken } from './kvCache.js';

interface Setting {
  /** Keeps a few chunks, which is all that fits within its bound. */
  readonly reusing: Generator;
  /** Keeps nothing. */
  readonly forgetful: Generator;
  /** No adapter, and two adapters of equal shape. */
  readonly adapters: readonly (LoadedAdapter | null)[];
}

async function withGenerators(keptChunks: number, use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const load = async (seed: number) =>
      loadAdapter(await writeRandomAdapter(join(folder, `a${seed}`), config, seed), config);
    const model = { config, weights: await SharedWeights.open(config, weights), threads: 1 };
    const chunkBytes = prefillChunk * bytesPerToken(config);
    const [reusing, forgetful] = [keptChunks * chunkBytes, 0].map((prefixBytes) => {
      return new Generator(model, new TestAdapters(), 3, { maxCacheBytes: 2 ** 30, maxPrefixBytes: prefixBytes });
    }) as [Generator, Generator];
    try {
      await use({ reusing, forgetful, adapters: [null, await load(1), await load(2)] });
    } finally {
      await reusing.close();
      await forgetful.close();
    }
  });
}

const keyless = (): GenerationJob => ({
  prompt: passage(0, 200),
  forced: [],
  maxOutputTokens: 10,
  stopTokens: new Set(),
  temperature: 0,
  random: createRandom(1),
  adapter: null,
});

const job = ({ adapter = null, ...changes }: JobChanges = {}): GenerationJob => ({
  ...keyless(),
  adapter: referenceFor(adapter),
  isolationKey: 'a',
  ...changes,
});

function passage(seed: number, length: number): number[] {
  const random = createRandom(seed + 1);
  return Array.from({ length }, () => Math.floor(random.next() * 384));
}

test('what is reused is counted: whole chunks of equal tokens, adapter and key, never the whole prompt', async () => {
  await withGenerators(100, async ({ reusing, adapters }) => {
    const reused = async (changes: JobChanges): Promise<number> => (await reusing.generate(job(changes))).reusedTokens;
    assert.equal(await reused({}), 0);
    assert.equal(await reused({}), 3 * prefillChunk);
    assert.equal(await reused({ prompt: passage(0, 200).with(150, 7) }), 2 * prefillChunk);
    assert.equal(await reused({ prompt: passage(0, 2 * prefillChunk) }), prefillChunk);
    assert.equal(await reused({ prompt: passage(0, 200).with(0, 7) }), 0);
    assert.equal(await reused({ isolationKey: 'b' }), 0);
    assert.equal(await reused({ adapter: adapters[1]! }), 0);
    assert.equal(await reused({ adapter: adapters[2]! }), 0);
    assert.equal(await reused({ adapter: adapters[1]!, isolationKey: 'b' }), 0);
    for (let time = 0; time < 2; time += 1) assert.equal((await reusing.generate(keyless())).reusedTokens, 0);
  });
});

test('a shared beginning is reused to its last token, by prompts that say it is shared', async () => {
  await withGenerators(100, async ({ reusing }) => {
    const reused = async (changes: JobChanges): Promise<number> => (await reusing.generate(job(changes))).reusedTokens;
    const asked = (seed: number): number[] => [...passage(0, 100), ...passage(seed, 20)];
    assert.equal(await reused({ prompt: asked(1), sharedTokens: 100 }), 0);
    assert.equal(await reused({ prompt: asked(2), sharedTokens: 100 }), 100);
    assert.equal(await reused({ prompt: asked(3) }), prefillChunk, 'chunks before the last are shared with others');
    assert.equal(await reused({ prompt: asked(4), sharedTokens: 90 }), prefillChunk);
    assert.equal(await reused({ prompt: passage(0, 100), sharedTokens: 100 }), prefillChunk, 'a token must be read');
  });
});

test('random mixtures of prompts, adapters and keys are answered as by a model that keeps nothing', async () => {
  for (const keptChunks of [4, 1000]) {
    await withGenerators(keptChunks, async ({ reusing, forgetful, adapters }) => {
      const jobs = fc.record({
        beginning: fc.nat(2),
        shared: fc.constantFrom(63, 64, 65, 128, 190),
        rest: fc.nat(90),
        isMarked: fc.boolean(),
        adapter: fc.constantFrom(...adapters),
        isolationKey: fc.constantFrom('a', 'b'),
        forced: fc.constantFrom([], [5, 6, 7]),
      });
      let reusedTokens = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(jobs, { minLength: 2, maxLength: 8 }), async (list) => {
          const all = list.map(({ beginning, shared, rest, isMarked, ...changes }) => {
            const prompt = [...passage(beginning, shared), ...passage(rest, 1 + rest)];
            return job({ ...changes, prompt, sharedTokens: isMarked ? shared : 0 });
          });
          const answers = await Promise.all(all.map((one) => reusing.generate(one)));
          // Chance may share no beginning in any mixture, so one job is asked twice in a row.
          for (let time = 0; time < 2; time += 1) {
            all.push(all[0]!);
            answers.push(await reusing.generate(all[0]!));
          }
          for (const [index, one] of all.entries()) {
            const { reusedTokens: reused, ...answer } = answers[index]!;
            reusedTokens += reused;
            assert.deepEqual({ ...answer, reusedTokens: 0 }, await forgetful.generate(one));
            assert.ok(reused < one.prompt.length);
          }
        }),
        { numRuns: 12 },
      );
      assert.ok(reusedTokens > 0);
    });
  }
});

test('a prompt is answered alike whatever was read before it, with an adapter that differs in content only', async () => {
  await withRandomCheckpoint(async (folder, config) => {
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
    const content = 'The lighthouse of Varn was built by Ada Kell. '.repeat(5);
    const request = (adapter: AdapterReference | null, isolationKey: string | null = 'tenant'): GenerateRequest => ({
      prompt: { messages: [{ role: 'user', content }] },
      adapter,
      maxOutputTokens: 16,
      temperature: 0,
      ...(isolationKey === null ? {} : { isolationKey }),
    });
    try {
      // The second adapter replaces the first at the same path.
      const path = join(folder, 'adapter');
      const first = await writeRandomAdapter(path, config, 1);
      const before = await engine.generate(request(first));
      await rename(path, join(folder, 'elsewhere'));
      const second = await writeRandomAdapter(path, config, 2);
      const after = await engine.generate(request(second));
      assert.notEqual(after.text, before.text);
      assert.equal(after.usage.cachedInputTokens, 0);
      assert.equal(after.text, (await engine.generate(request(second, 'another'))).text);
      const again = await engine.generate(request(second));
      assert.equal(again.text, after.text);
      assert.ok(again.usage.cachedInputTokens > 0 && again.usage.cachedInputTokens < again.usage.inputTokens);
      assert.equal((await engine.generate(request(second, null))).usage.cachedInputTokens, 0);
      await assert.rejects(engine.generate(request(null, '')), { code: 'invalid_request', message: /isolationKey/ });
    } finally {
      await engine.close();
    }
  });
});

test('a shared beginning is reused up to the first token in which two prompts differ', async () => {
  await withRandomCheckpoint(async (folder) => {
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
    const text = 'The lighthouse of Varn was built by Ada Kell.'.repeat(3);
    const said = (wish: string): ChatMessage[] => [{ role: 'user', content: `${text}${wish}` }];
    const request = (wish: string, beginning: string): GenerateRequest => ({
      prompt: { messages: said(wish), sharedBeginning: said(beginning) },
      adapter: null,
      maxOutputTokens: 4,
      temperature: 0,
      isolationKey: 'tenant',
    });
    try {
      const tokensOf = async (wish: string) => (await engine.encode({ messages: said(wish) }, '')).tokens;
      const [first, second] = [await tokensOf('Who?'), await tokensOf('7 or 8?')];
      const common = first.findIndex((token, place) => token !== second[place]);
      assert.ok(common > text.length / 8 && common % prefillChunk !== 0);
      await engine.generate(request('Who?', ''));
      assert.equal((await engine.generate(request('7 or 8?', ''))).usage.cachedInputTokens, common);
      // One that says something else is none beyond what it has in common.
      const { usage } = await engine.generate(request('Who?', 'Where?'));
      assert.ok(usage.cachedInputTokens <= common + 1 && usage.cachedInputTokens < usage.inputTokens);
    } finally {
      await engine.close();
    }
  });
});

test('a failing sequence leaves nothing behind for the next', async () => {
  await withGenerators(100, async ({ reusing, forgetful, adapters }) => {
    const [, adapter] = adapters;
    const huge = [...adapter!.groups].map(([name, { ranks, a, b }]) => {
      return [name, { ranks, a: a.map((value) => value * 1e30), b: b.map((value) => value * 1e30) }] as const;
    });
    const broken = { ...adapter!, contentHash: 'broken', groups: new Map(huge) };
    const expected: Generation = await forgetful.generate(job());
    for (let time = 0; time < 2; time += 1) {
      await assert.rejects(reusing.generate(job({ adapter: broken })), { code: 'internal' });
    }
    assert.deepEqual(await reusing.generate(job()), expected);
  });
});
