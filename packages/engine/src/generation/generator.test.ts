import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError } from '../engine.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { createRandom } from '../random.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { inMemory, type JobChanges } from '../testing/runs.js';
import type { AdapterReference, ChatPrompt } from '../types.js';
import { AdapterLoader } from './adapterLoader.js';
import type { LoadedModel } from './inferenceRunner.js';
import type { JoinedMatrices } from './joinedMatrices.js';
import { loadAdapter, type LoadedAdapter } from './loadedAdapter.js';
import type { GenerationJob } from './generationJob.js';
import { Generator, PREFILL_CHUNK } from './generator.js';
import { InferenceRunner } from './inferenceRunner.js';
import { KvCache } from './kvCache.js';

interface Setting {
  readonly generator: Generator;
  readonly adapter: LoadedAdapter;
  readonly model: LoadedModel;
}

async function withGenerator(use: (setting: Setting) => Promise<void>): Promise<void> {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const model = { config, weights: await SharedWeights.open(config, weights), threads: 1 };
    const generator = new Generator(model, 3);
    const reference = await writeRandomAdapter(join(folder, 'adapter'), config, 1);
    try {
      await use({ generator, adapter: await loadAdapter(reference, config), model });
    } finally {
      await generator.close();
    }
  });
}

const job = ({ adapter = null, ...changes }: JobChanges = {}): GenerationJob => ({
  prompt: [7, 11, 13],
  forced: [],
  maxOutputTokens: 12,
  stopTokens: new Set(),
  temperature: 0,
  random: createRandom(1),
  adapter: inMemory(adapter),
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
      [...adapter.groups].map(([name, { ranks, a, b }]) => [name, { ranks, a: a.map(() => NaN), b }]),
    );
    const [spared, spared_too, ...failed] = await Promise.allSettled([
      generator.generate(job()),
      generator.generate(job({ adapter })),
      generator.generate(job({ isComplete: failAtThirdToken })),
      generator.generate(job({ adapter: { ...adapter, groups: notANumber } })),
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
    // A fault injector: the adapter is readable for its own prompt, and not when it is stacked for a batch.
    let broken = false;
    const readable = ({ ranks, a, b }: JoinedMatrices): JoinedMatrices => ({
      ranks,
      b,
      get a() {
        if (broken) throw new Error('injected');
        return a;
      },
    });
    const groups = new Map([...adapter.groups].map(([name, joined]) => [name, readable(joined)]));
    const isComplete = (): boolean => {
      broken = true;
      return false;
    };
    const unreadable = { ...adapter, groups };
    const shared = [generator.generate(job()), generator.generate(job({ adapter: unreadable, isComplete }))];
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

test('when there is no memory for a newcomer, nobody goes on with what the cache has lost', async (t) => {
  await withGenerator(async ({ generator }) => {
    const expected = await generator.generate(job());
    const resize = Object.getOwnPropertyDescriptor(KvCache.prototype, 'reserve')?.value as KvCache['reserve'];
    const reserve = t.mock.method(
      KvCache.prototype,
      'reserve',
      function (this: KvCache, ...args: Parameters<KvCache['reserve']>) {
        const [, slots] = args;
        if (slots === 2) throw new RangeError('Array buffer allocation failed');
        resize.apply(this, args);
      },
    );
    const outcomes = await Promise.allSettled([generator.generate(job()), generator.generate(job())]);
    for (const outcome of outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof EngineError);
      assert.equal(outcome.reason.code, 'batch_lost');
    }
    reserve.mock.restore();
    assert.deepEqual(await Promise.all([generator.generate(job()), generator.generate(job())]), [expected, expected]);
  });
});

test('adapters of those that wait are loaded at once while there is room, else when their turn comes; one that fails ends nobody else', async () => {
  await withGenerator(async ({ generator: roomy, adapter, model }) => {
    const expected = await roomy.generate(job({ adapter }));
    const narrow = new Generator(model, 3, undefined, { maxBytes: 1, resizeStacks: () => undefined });
    for (const [generator, mostLoadedAtOnce] of [
      [roomy, 9],
      [narrow, 4],
    ] as const) {
      let answered = 0;
      const answeredBefore: number[] = [];
      // Equal in content, but each an object of its own.
      const counted = (number: number): GenerationJob => ({
        ...job(),
        adapter: {
          contentHash: adapter.contentHash,
          load: () => {
            answeredBefore[number] = answered;
            if (number === 4) return Promise.reject(new EngineError('adapter_invalid', 'injected'));
            return Promise.resolve({ ...adapter });
          },
        },
      });
      const calls = Array.from({ length: 9 }, (_, number) =>
        generator.generate(counted(number)).then((generation) => {
          answered += 1;
          return generation;
        }),
      );
      const outcomes = await Promise.allSettled(calls);
      for (const [number, outcome] of outcomes.entries()) {
        if (number !== 4) assert.deepEqual(outcome, { status: 'fulfilled', value: expected });
      }
      assert.ok(outcomes[4]?.status === 'rejected' && outcomes[4].reason instanceof EngineError);
      assert.equal(answeredBefore.length, 9);
      const loadedAtOnce = answeredBefore.filter((earlier) => earlier === 0).length;
      assert.ok(
        loadedAtOnce <= mostLoadedAtOnce && (generator === narrow || loadedAtOnce === 9),
        answeredBefore.join(),
      );
    }
    await narrow.close();
  });
});

test('adapters that do not fit in memory together wait for each other, and give the same answers', async () => {
  await withRandomCheckpoint(async (folder) => {
    const { config } = await openCheckpoint(join(folder, 'model'));
    const adapters: (AdapterReference | null)[] = [null];
    for (const seed of [1, 2]) adapters.push(await writeRandomAdapter(join(folder, `a${seed}`), config, seed));
    const answers: unknown[] = [];
    for (const maxAdapterBytes of [2 ** 30, 1]) {
      const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1, maxAdapterBytes });
      const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Who built it?' }] };
      const requests = [...adapters, ...adapters].map((adapter) =>
        engine.generate({ prompt, adapter, maxOutputTokens: 6, temperature: 0 }),
      );
      answers.push(await Promise.all(requests));
      await engine.close();
    }
    assert.deepEqual(answers[1], answers[0]);
  });
});

test('an adapter that takes for ever to load holds up nobody who runs', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job());
    const running = generator.generate(job());
    let finish = (): void => undefined;
    // A fault injector: a disk that does not answer until it is told to.
    const slow = new Promise<LoadedAdapter>((resolve) => {
      finish = () => resolve(adapter);
    });
    const waiting = generator.generate({ ...job(), adapter: { contentHash: 'slow', load: () => slow } });
    assert.deepEqual((await running).tokens, expected.tokens);
    finish();
    assert.deepEqual((await waiting).tokens, (await generator.generate(job({ adapter }))).tokens);
  });
});

/** A fault injector: an adapter on a disk that never answers. */
const neverLoads = (signal?: AbortSignal): GenerationJob => ({
  ...job(),
  adapter: { contentHash: 'never', load: () => new Promise<never>(() => undefined) },
  ...(signal === undefined ? {} : { signal }),
});

test('while an adapter loads for ever, those who are ready begin, in the order of their arrival', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = [await generator.generate(job()), await generator.generate(job({ adapter }))];
    const controller = new AbortController();
    const stuck = generator.generate(neverLoads(controller.signal));
    // Those that come in the same turn, and those that come when the generator has nothing to do but wait.
    for (let round = 0; round < 2; round += 1) {
      const order: number[] = [];
      const kept = { ...inMemory(adapter)!, inMemory: () => adapter };
      const jobs = [job(), { ...job(), adapter: kept }, job(), { ...job(), adapter: kept }];
      const answers = await Promise.all(
        jobs.map(async (each, index) => {
          const answer = await generator.generate(each);
          order.push(index);
          return answer;
        }),
      );
      assert.deepEqual(answers, [...expected, ...expected]);
      assert.deepEqual(order, [0, 1, 2, 3]);
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    controller.abort();
    await assert.rejects(stuck, { name: 'EngineError', code: 'cancelled' });
  });
});

test('one whose adapter has been slow to load is the next to begin when it is there', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    let finish = (): void => undefined;
    const loaded = new Promise<LoadedAdapter>((resolve) => {
      finish = () => resolve(adapter);
    });
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const slow = generator
      .generate({ ...job({ maxOutputTokens: 1 }), adapter: { contentHash: 'slow', load: () => loaded } })
      .then(note('slow'));
    await generator.generate(job());
    // Three fill the batch; the others come after the slow one, and must not be let in before it for ever.
    const first = [1, 2, 3].map(() => generator.generate(job()).then(note('first')));
    const later = [1, 2, 3, 4, 5, 6].map(() => generator.generate(job()).then(note('later')));
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    await Promise.all([slow, ...first, ...later]);
    assert.ok(order.indexOf('slow') < order.indexOf('later'), order.join());
  });
});

test('who waits for an adapter is cancelled at once, and what is loaded for nobody holds up no other load', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job({ adapter }));
    const [one, two] = [new AbortController(), new AbortController()];
    const stuck = generator.generate(neverLoads(one.signal));
    const behind = generator.generate({ ...job({ adapter }), signal: two.signal });
    const last = generator.generate(job({ adapter }));
    const refused = { name: 'EngineError', code: 'cancelled' };
    two.abort();
    await assert.rejects(behind, refused);
    one.abort();
    await assert.rejects(stuck, refused);
    assert.deepEqual(await last, expected);
    // Closing waits for no disk either.
    const closing = assert.rejects(generator.generate(neverLoads()), refused);
    await generator.close();
    await closing;
  });
});

test('two adapters load at a time, when it is known how large they may be and there is room for both', async () => {
  await withGenerator(async ({ generator: roomy, adapter, model }) => {
    const narrow = new Generator(model, 3, undefined, { maxBytes: 1, resizeStacks: () => undefined });
    for (const [generator, before, after] of [
      [roomy, 1, 2],
      [narrow, 1, 1],
    ] as const) {
      const begun = async (): Promise<number> => {
        let loads = 0;
        const controllers = [1, 2, 3].map(() => new AbortController());
        const stuck = controllers.map(({ signal }) => {
          const load = (): Promise<never> => {
            loads += 1;
            return new Promise(() => undefined);
          };
          return generator.generate({ ...job(), signal, adapter: { contentHash: 'never', load } });
        });
        for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        const begunAtOnce = loads;
        for (const controller of controllers.reverse()) controller.abort();
        await Promise.allSettled(stuck);
        return begunAtOnce;
      };
      assert.equal(await begun(), before);
      await generator.generate({ ...job(), adapter: { contentHash: 'a', load: () => Promise.resolve(adapter) } });
      assert.equal(await begun(), after);
    }
    await narrow.close();
  });
});

test('scoring is cancelled while its adapter loads', async (t) => {
  await withRandomCheckpoint(async (folder) => {
    const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1 });
    t.mock.method(AdapterLoader.prototype, 'load', () => new Promise<never>(() => undefined));
    const controller = new AbortController();
    const request = { sequences: [{ tokens: [1, 2], targetStart: 1 }], topK: 0 };
    const stuck = engine.score(
      { ...request, adapter: { folder, contentHash: 'never' } },
      { signal: controller.signal },
    );
    const [score] = await engine.score({ ...request, adapter: null });
    assert.equal(score!.logprobs.length, 1);
    controller.abort();
    await assert.rejects(stuck, { name: 'EngineError', code: 'cancelled' });
    await engine.close();
  });
});

test('in a crowd several prompts are read before the next step, but never two chunks of a long one', async (t) => {
  await withGenerator(async ({ generator }) => {
    const turns: string[] = [];
    for (const name of ['append', 'decode'] as const) {
      const run = Object.getOwnPropertyDescriptor(InferenceRunner.prototype, name)?.value as (
        ...args: unknown[]
      ) => Promise<unknown>;
      t.mock.method(InferenceRunner.prototype, name, function (this: InferenceRunner, ...args: unknown[]) {
        turns.push(name === 'append' ? 'r' : 's');
        return run.apply(this, args);
      });
    }
    const generate = (changes: JobChanges): Promise<unknown> => generator.generate(job(changes));
    // Three rows at once; the last three are no crowd any more when two of them run.
    await Promise.all(Array.from({ length: 9 }, () => generate({ maxOutputTokens: 3 })));
    assert.equal(turns.splice(0).join(''), 'rrrssrrrssrrsrss');
    const prompt = Array.from({ length: 3 * PREFILL_CHUNK }, () => 7);
    await Promise.all([
      generate({ maxOutputTokens: 6 }),
      ...[1, 2, 3].map(() => generate({ prompt, maxOutputTokens: 1 })),
    ]);
    assert.equal(turns.splice(0).join('').slice(0, 11), 'rrsrsrrsrsr');
  });
});
