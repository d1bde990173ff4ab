import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TINY_TOKENIZER, withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { copies } from '../testing/runs.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError } from '../engine.js';
import { allFinite } from '../finite.js';
import type { DecoderConfig } from '../model/config.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { WEIGHT_FORMATS, type WeightFormat } from '../model/quantization.js';
import { loadQuantizedWeights } from '../model/quantizedWeights.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { AdapterReference, ChatPrompt, GenerateRequest, GenerateResult } from '../types.js';
import { bannedTokens } from './bannedTokens.js';
import { generationThreads } from './generationThreads.js';
import { InferenceRunner, type DecodeRow } from './inferenceRunner.js';
import { loadAdapter, type LoadedAdapter } from './loadedAdapter.js';
import { KvCache, NOTHING_KEPT } from './kvCache.js';

const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

interface Setting {
  readonly engine: EmbeddedEngine;
  /** No adapter, three adapters of unlike rank, and one of unlike ranks that leaves projections alone. */
  readonly adapters: readonly (AdapterReference | null)[];
}

const UNEVEN = { targets: ['q_proj', 'v_proj', 'down_proj'], rankPattern: new Map([['v_proj', 18]]) };

async function withEngine(use: (setting: Setting) => Promise<void>, weightFormat: WeightFormat = 'f32'): Promise<void> {
  await withRandomCheckpoint(async (folder, config) => {
    const adapters = await Promise.all(
      [2, 4, 7].map((rank) => writeRandomAdapter(join(folder, `adapter-${rank}`), config, rank, rank)),
    );
    adapters.push(await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, UNEVEN));
    const modelDir = join(folder, 'model');
    const engine = await EmbeddedEngine.open({ modelDir, threads: 1, maxBatch: 3, weightFormat });
    try {
      await use({ engine, adapters: [null, ...adapters] });
    } finally {
      await engine.close();
    }
  });
}

const request = (changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: user('Who built it?'),
  adapter: null,
  maxOutputTokens: 24,
  temperature: 0,
  ...changes,
});

/** What does not depend on the company a request had in its batch. */
const essence = ({ text, finishReason, usage }: GenerateResult) => ({ text, finishReason, usage });

test('greedy output is the same alone and in any mixture of rows', async (t) => {
  for (const format of WEIGHT_FORMATS) {
    await t.test(format, async () => {
      await withEngine(async ({ engine, adapters }) => {
        const requests = fc.record({
          content: fc.string({ maxLength: 300 }),
          adapter: fc.constantFrom(...adapters),
          maxOutputTokens: fc.integer({ min: 1, max: 30 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(requests, { minLength: 2, maxLength: 7 }), async (list) => {
            const all = list.map(({ content, ...rest }) => request({ ...rest, prompt: user(content) }));
            const together = await Promise.all(all.map((one) => engine.generate(one)));
            for (const [index, one] of all.entries()) {
              assert.deepEqual(essence(await engine.generate(one)), essence(together[index]!));
            }
          }),
          { numRuns: 12 },
        );
      }, format);
    });
  }
});

test('an option that cannot be meant is refused by its name, as a batch of no rows, in which nothing would ever begin', async () => {
  await withRandomCheckpoint(async (folder) => {
    const refused: readonly (readonly [string, readonly unknown[], RegExp])[] = [
      ...['threads', 'maxContextLength', 'maxBatch'].map(
        (name) => [name, [0, -1, 0.5, NaN], /^\w+ must be a whole number of at least 1$/] as const,
      ),
      ...['maxCacheBytes', 'maxScoreBytes', 'maxPrefixBytes', 'maxAdapterBytes'].map(
        (name) => [name, [-1, NaN], /^\w+ must be a number of bytes of at least 0$/] as const,
      ),
      ['weightFormat', ['q5'], /^weightFormat must be one of f32, q8, q4$/],
    ];
    for (const [name, values, reason] of refused) {
      for (const value of values) {
        await assert.rejects(EmbeddedEngine.open({ modelDir: join(folder, 'model'), [name]: value }), (error) => {
          assert.ok(error instanceof EngineError && error.code === 'invalid_request', `${name} ${String(value)}`);
          assert.match(error.message, reason);
          return error.message.startsWith(name);
        });
      }
    }
  });
});

test('what an earlier sequence left beyond the end of another has no influence, however large', async () => {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const runner = new InferenceRunner({ config, weights: await SharedWeights.open(config, weights), threads: 1 });
    const answer = async (left: number) => {
      const cache = new KvCache(config);
      cache.write(0, 0, new Float32Array(cache.read(0, 0, 60).length).fill(left));
      const logits = copies([await runner.append(cache, [7, 11, 13], 0, null)]);
      return [...logits, ...copies(await runner.decode(cache, [{ token: 5, cachedTokens: 3, adapter: null }]))];
    };
    const expected = await answer(0);
    for (const left of [1, 1e12, 3e38, Infinity, NaN]) assert.deepEqual(await answer(left), expected, `${left}`);
    await runner.close();
  });
});

test('greedy output is that of the whole sequence computed anew for every token', async () => {
  const tokenizer = await ChatTokenizer.load(TINY_TOKENIZER);
  await withEngine(async ({ engine, adapters }) => {
    for (const adapter of adapters) {
      const prompt = user('The lighthouse of Varn '.repeat(30));
      const { text, usage } = await engine.generate(request({ adapter, prompt }));
      const { tokens, targetStart } = await engine.encode(prompt, '');
      const sequence = tokens.slice(0, targetStart);
      const banned = bannedTokens(tokenizer, request({ prompt }));
      let takesGreatest = true;
      assert.equal(usage.inputTokens, sequence.length);
      for (let count = 0; count < usage.outputTokens; count += 1) {
        const scored = await engine.score({
          sequences: [{ tokens: [...sequence, 0], targetStart: sequence.length }],
          adapter,
          topK: banned.length + 1,
        });
        const { ids } = scored[0]!.topK[0]!;
        const next = ids.find((id) => !banned.includes(id))!;
        takesGreatest &&= next === ids[0];
        sequence.push(next);
      }
      const [score] = await engine.score({ sequences: [{ tokens: sequence, targetStart }], adapter, topK: 0 });
      assert.equal(score!.greedy, takesGreatest);
      const whole = tokenizer.decode(sequence.slice(targetStart));
      // Random bytes end inside a character.
      assert.equal(text, whole.replace(/\uFFFD+$/, ''));
    }
  });
});

interface BatchCase {
  readonly hiddenSize: number;
  readonly ffnSize: number;
  readonly headDim: number;
  readonly layers?: number;
  readonly heads?: number;
  /** That are really used, see `generationThreads`. */
  readonly threads?: number;
}

/**
 * Narrow models, some of whose widths fill neither a vector nor a block of quantised numbers, and one that is wide
 * enough for threads.
 */
const BATCH_CASES: readonly BatchCase[] = [
  { hiddenSize: 32, ffnSize: 64, headDim: 16 },
  { hiddenSize: 40, ffnSize: 72, headDim: 10 },
  { hiddenSize: 192, ffnSize: 384, headDim: 64 },
  { hiddenSize: 192, ffnSize: 384, headDim: 24 },
  ...[2, 3].map((threads) => ({ hiddenSize: 520, ffnSize: 1544, headDim: 64, layers: 1, threads })),
  // More threads than heads, which are so wide that their keys are many blocks.
  { hiddenSize: 520, ffnSize: 1544, headDim: 512, layers: 1, heads: 2, threads: 3 },
];

/** Up to how many rows of which no two are alike. */
const MOST_ROWS = 8;

async function openRunner(
  modelDir: string,
  threads: number,
  format: WeightFormat,
): Promise<{ readonly runner: InferenceRunner; readonly config: DecoderConfig }> {
  const { config, weights, description } = await openCheckpoint(modelDir);
  const model = { config, weights: await SharedWeights.open(config, weights), threads };
  if (format === 'f32') return { runner: new InferenceRunner(model), config };
  const source = { config, reader: weights, contentHash: description.contentHash };
  const quantized = await loadQuantizedWeights(source, format, undefined);
  return { runner: new InferenceRunner({ ...model, quantized }), config };
}

/** Some without an adapter, the others with adapters of unlike ranks, one of them of unlike ranks in itself. */
async function mixedAdapters(folder: string, config: DecoderConfig): Promise<readonly (LoadedAdapter | null)[]> {
  const references = await Promise.all(
    [2, 20, 5].map((rank) => writeRandomAdapter(join(folder, `a${rank}`), config, rank, rank)),
  );
  references.push(await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, UNEVEN));
  return [null, ...(await Promise.all(references.map((reference) => loadAdapter(reference, config))))];
}

for (const format of WEIGHT_FORMATS) {
  for (const { hiddenSize, ffnSize, headDim, layers = 2, heads = 4, threads = 1 } of BATCH_CASES) {
    test(`a row’s logits are the same to the last bit alone and in any batch: ${format}, ${hiddenSize} wide, ${heads} heads of ${headDim}, ${threads} threads`, async () => {
      const changes = {
        hidden_size: hiddenSize,
        intermediate_size: ffnSize,
        head_dim: headDim,
        num_hidden_layers: layers,
        num_attention_heads: heads,
      };
      await withRandomCheckpoint(async (folder) => {
        const { runner, config } = await openRunner(join(folder, 'model'), threads, format);
        assert.equal(generationThreads(config, threads), threads, 'the case is about fewer threads than it says');
        const prefill = async (cache: KvCache, slot: number, { cachedTokens, adapter }: DecodeRow): Promise<void> => {
          const staging = new KvCache(config);
          const prompt = Array.from({ length: cachedTokens }, (_, index) => (index * cachedTokens) % 384);
          staging.reserve(cachedTokens, 1, NOTHING_KEPT);
          await runner.append(staging, prompt, 0, adapter);
          cache.reserve(cachedTokens + 1, slot + 1, { slots: slot, tokens: cachedTokens });
          cache.copy(staging, 0, slot, cachedTokens);
        };
        const mixed = await mixedAdapters(folder, config);
        // Without any, all with the same, and all together.
        for (const adapters of [[null], mixed.slice(-1), mixed]) {
          const rows = Array.from({ length: MOST_ROWS }, (_, row): DecodeRow => {
            return { token: 5 + row, cachedTokens: 3 + 30 * row, adapter: adapters[row % adapters.length] ?? null };
          });
          const alone: Float32Array[] = [];
          for (const row of rows) {
            const cache = new KvCache(config);
            await prefill(cache, 0, row);
            alone.push(...copies(await runner.decode(cache, [row])));
          }
          assert.ok(alone.every((logits) => allFinite(logits)));
          const cache = new KvCache(config);
          for (const count of [2, 3, 4, 5, MOST_ROWS]) {
            for (const [slot, row] of rows.slice(0, count).entries()) await prefill(cache, slot, row);
            const together = copies(await runner.decode(cache, rows.slice(0, count)));
            assert.deepEqual(together, alone.slice(0, count), `${count} rows, ${adapters.length} adapters`);
          }
        }
        await runner.close();
      }, changes);
    });
  }
}

test('the same seed gives the same tokens, alone and in company', async () => {
  await withEngine(async ({ engine }) => {
    const drawn = (seed: number): Promise<GenerateResult> => engine.generate(request({ temperature: 1.3, seed }));
    const first = essence(await drawn(1));
    const [again, other] = await Promise.all([drawn(1), drawn(2)]);
    assert.deepEqual(essence(again), first);
    assert.notDeepEqual(essence(other), first);
    const [free, freeToo] = [request({ temperature: 1.3 }), request({ temperature: 1.3 })];
    assert.notEqual((await engine.generate(free)).text, (await engine.generate(freeToo)).text);
  });
});

test('output ends at its ceiling, at the context’s, and at a stop token', async () => {
  await withEngine(async ({ engine }) => {
    const short = await engine.generate(request({ maxOutputTokens: 3 }));
    assert.deepEqual([short.finishReason, short.usage.outputTokens], ['length', 3]);

    const content = (length: number): ChatPrompt => user('x'.repeat(length));
    const { contextLength } = await engine.describe();
    const empty = await engine.countTokens(content(0));
    const perLetter = ((await engine.countTokens(content(200))) - empty) / 200;
    const filling = Math.floor((contextLength - empty - 10) / perLetter);
    const inputTokens = await engine.countTokens(content(filling));
    const full = await engine.generate(request({ prompt: content(filling), maxOutputTokens: 1000 }));
    assert.equal(full.finishReason, 'length');
    assert.equal(full.usage.outputTokens, contextLength - inputTokens);
    await assert.rejects(engine.generate(request({ prompt: content(filling * 2) })), {
      code: 'context_length_exceeded',
    });

    // At a high temperature any token is likely, so that one of the stop tokens comes soon.
    const stopped = await engine.generate(request({ temperature: 100, seed: 8, maxOutputTokens: 450 }));
    assert.equal(stopped.finishReason, 'stop');
    assert.ok(stopped.usage.outputTokens < 450);
  });
});

test('a request is cancelled between tokens, and the others go on', async () => {
  await withEngine(async ({ engine }) => {
    const expected = essence(await engine.generate(request()));
    const controllers = Array.from({ length: 5 }, () => new AbortController());
    const doomed = controllers.map(({ signal }, index) =>
      assert.rejects(engine.generate(request({ maxOutputTokens: 400 - index }), { signal }), { code: 'cancelled' }),
    );
    const spared = engine.generate(request());
    setTimeout(() => controllers.forEach((controller) => controller.abort()), 20);
    await Promise.all(doomed);
    assert.deepEqual(essence(await spared), expected);
    const signal = AbortSignal.abort();
    await assert.rejects(engine.generate(request(), { signal }), { code: 'cancelled' });
    await assert.rejects(engine.score({ sequences: [], adapter: null, topK: 0 }, { signal }), { code: 'cancelled' });
  });
});

test('a forced call begins the output and counts', async () => {
  const tokenizer = await ChatTokenizer.load(TINY_TOKENIZER);
  await withEngine(async ({ engine }) => {
    const prompt = { ...user('What time is it?'), tools: [{ name: 'time', parameters: { type: 'object' } }] };
    const forced = request({ prompt, toolChoice: { kind: 'function', name: 'time' } });
    // The random model never closes the call, so the ceiling cuts it off.
    const { text, finishReason, usage } = await engine.generate(forced);
    assert.deepEqual([text, finishReason, usage.outputTokens], ['', 'length', 24]);
    assert.ok(tokenizer.encodeCompletion('<tool_call>\n{"name": "time"').length < 24);
    const tiny = await engine.generate({ ...forced, maxOutputTokens: 2 });
    assert.deepEqual([tiny.finishReason, tiny.usage.outputTokens], ['length', 2]);
    const unknown = { ...forced, toolChoice: { kind: 'function', name: 'rm' } as const };
    await assert.rejects(engine.generate(unknown), { code: 'invalid_request' });
    await assert.rejects(engine.generate(request({ toolChoice: { kind: 'required' } })), { code: 'invalid_request' });
  });
});

test('an engine that closes while a training opens leaves none open', async () => {
  await withEngine(async ({ engine }) => {
    const options = { parent: null, rank: 2, alpha: 4, seed: 1 };
    const opening = engine.openTraining(options);
    const refused = assert.rejects(opening, { code: 'cancelled' });
    await engine.close();
    await refused;
    await assert.rejects(engine.openTraining(options), { code: 'cancelled' });
  });
});

test('training, scoring and generating take turns', async () => {
  await withEngine(async ({ engine, adapters }) => {
    const expected = essence(await engine.generate(request()));
    const sequence = await engine.encode(user('Who built it?'), 'Ada Kell.');
    const training = await engine.openTraining({ parent: null, rank: 2, alpha: 4, seed: 1 });
    const order: string[] = [];
    const log = async <T>(name: string, work: Promise<T>): Promise<T> => {
      const result = await work;
      order.push(name);
      return result;
    };
    const trains = async (): Promise<void> => {
      for (let step = 0; step < 10; step += 1) await log('step', training.step([{ sequence, weight: 1 }], 1e-3));
    };
    const [result] = await Promise.all([
      log('generated', engine.generate(request())),
      trains(),
      engine.score({ sequences: [sequence], adapter: adapters[1]!, topK: 1 }),
    ]);
    assert.deepEqual(essence(result), expected);
    assert.ok(order.slice(0, order.indexOf('generated')).includes('step'), 'steps run while a request is decoded');
    await training.close();
  });
});
