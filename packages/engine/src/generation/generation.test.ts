import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TINY_TOKENIZER, withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError } from '../engine.js';
import { weightFeeds } from '../model/inputs.js';
import { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { AdapterReference, ChatPrompt, GenerateRequest, GenerateResult } from '../types.js';
import { InferenceRunner, type DecodeRow } from './inferenceRunner.js';
import { loadAdapter } from './loadedAdapter.js';
import { KvCache } from './kvCache.js';

const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }] });

interface Setting {
  readonly engine: EmbeddedEngine;
  /** No adapter, three adapters of unlike rank, and one of unlike ranks that leaves projections alone. */
  readonly adapters: readonly (AdapterReference | null)[];
}

const UNEVEN = { targets: ['q_proj', 'v_proj', 'down_proj'], rankPattern: new Map([['v_proj', 18]]) };

async function withEngine(use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder, config) => {
    const adapters = await Promise.all(
      [2, 4, 7].map((rank) => writeRandomAdapter(join(folder, `adapter-${rank}`), config, rank, rank)),
    );
    adapters.push(await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, UNEVEN));
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1, maxBatch: 3 });
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

test('greedy output is the same alone and in any mixture of rows', async () => {
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
  });
});

test('an option that cannot be meant is refused by its name, as a batch of no rows, in which nothing would ever begin', async () => {
  await withRandomCheckpoint(async (folder) => {
    const refused: readonly (readonly [string, readonly unknown[], RegExp])[] = [
      ...['threads', 'maxContextLength', 'maxBatch'].map(
        (name) => [name, [0, -1, 0.5, NaN], /^\w+ must be a whole number of at least 1$/] as const,
      ),
      ...['maxCacheBytes', 'maxPrefixBytes', 'maxAdapterBytes'].map(
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
    const runner = new InferenceRunner({ config, weights: weightFeeds(config, weights), threads: 1 });
    const answer = async (left: number) => {
      const cache = new KvCache(config);
      const state = new Float32Array(2 * config.layers * config.kvHeads * 60 * config.headDim).fill(left);
      assert.ok(cache.write(0, 0, state, 0, 1));
      const { logits } = await runner.append(cache, [7, 11, 13], 0, null);
      return [logits, ...(await runner.decode(cache, [{ token: 5, cachedTokens: 3, adapter: null }]))];
    };
    const expected = await answer(0);
    for (const left of [1, 1e6, 1e12, 3e38]) assert.deepEqual(await answer(left), expected, `${left}`);
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
      assert.equal(usage.inputTokens, sequence.length);
      for (let count = 0; count < usage.outputTokens; count += 1) {
        const scored = await engine.score({
          sequences: [{ tokens: [...sequence, 0], targetStart: sequence.length }],
          adapter,
          topK: 1,
        });
        sequence.push(scored[0]!.topK[0]!.ids[0]!);
      }
      const [score] = await engine.score({ sequences: [{ tokens: sequence, targetStart }], adapter, topK: 0 });
      assert.equal(score!.greedy, true);
      assert.equal(text, tokenizer.decode(sequence.slice(targetStart)));
    }
  });
});

test('a row’s logits are the same to the last bit alone and in any batch', async () => {
  for (const [hiddenSize, threads, headDim] of [
    [32, 1, 16],
    [32, 2, 10],
    [192, 2, 64],
    [192, 4, 24],
  ] as const) {
    const changes = { hidden_size: hiddenSize, intermediate_size: 2 * hiddenSize, head_dim: headDim };
    await withRandomCheckpoint(async (folder) => {
      const { config, weights } = await openCheckpoint(join(folder, 'model'));
      const model = { config, weights: weightFeeds(config, weights), threads };
      const runner = new InferenceRunner(model);
      const rows: DecodeRow[] = [];
      for (const [row, rank] of [0, 2, 20, 5].entries()) {
        const reference = rank === 0 ? null : await writeRandomAdapter(join(folder, `a${rank}`), config, rank, rank);
        const adapter = reference === null ? null : await loadAdapter(reference, config);
        rows.push({ token: 5, cachedTokens: 3 + 60 * row, adapter });
      }
      const uneven = await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, UNEVEN);
      rows.push({ token: 5, cachedTokens: 243, adapter: await loadAdapter(uneven, config) });
      const cache = new KvCache(config);
      const prompt = ({ cachedTokens }: DecodeRow): number[] =>
        Array.from({ length: cachedTokens }, (_, index) => (index * cachedTokens) % 384);
      const alone: Float32Array[] = [];
      const prefill = async (target: KvCache, slot: number, row: DecodeRow): Promise<void> => {
        const staging = new KvCache(config);
        await runner.append(staging, prompt(row), 0, row.adapter);
        target.reserve(row.cachedTokens + 1, slot + 1, slot);
        target.copy(staging, 0, slot, row.cachedTokens);
      };
      for (const row of rows) {
        const single = new KvCache(config);
        await prefill(single, 0, row);
        alone.push((await runner.decode(single, [row]))[0]!);
      }
      for (const count of [2, 3, 4, 5]) {
        for (const [slot, row] of rows.slice(0, count).entries()) await prefill(cache, slot, row);
        const together = await runner.decode(cache, rows.slice(0, count));
        assert.deepEqual(together, alone.slice(0, count), `${hiddenSize} wide, ${threads} threads, ${count} rows`);
      }
      await runner.close();
    }, changes);
  }
});

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
    const stopped = await engine.generate(request({ temperature: 100, seed: 4, maxOutputTokens: 450 }));
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
