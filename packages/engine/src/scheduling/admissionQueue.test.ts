/** When adapters of jobs are loaded, which jobs they delay, and when they are given back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError } from '../engine.js';
import { failAtThirdToken, job, withGenerator } from '../testing/generators.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { loadedBy, TestAdapters } from '../testing/testAdapters.js';
import type { AdapterReference, ChatPrompt } from '../types.js';
import { AdapterLoader } from '../adapters/adapterLoader.js';
import { adapterBytes, loadAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import type { GenerationJob } from './generationJob.js';
import { Generator } from './generator.js';

test('adapters of those that wait are loaded at once while there is room, else when their turn comes; one that fails ends nobody else', async () => {
  await withGenerator(async ({ generator: roomy, adapter, model }) => {
    const expected = await roomy.generate(job({ adapter }));
    const narrow = new Generator(model, new TestAdapters(1), 3);
    for (const [generator, maxLoadedAtOnce] of [
      [roomy, 9],
      [narrow, 4],
    ] as const) {
      let answered = 0;
      const answeredBefore: number[] = [];
      // The jobs are equal in content, but each is an object of its own.
      const counted = (number: number): GenerationJob => ({
        ...job(),
        adapter: loadedBy(adapter.contentHash, () => {
          answeredBefore[number] = answered;
          if (number === 4) return Promise.reject(new EngineError('adapter_invalid', 'injected'));
          return Promise.resolve({ ...adapter });
        }),
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
      assert.ok(loadedAtOnce <= maxLoadedAtOnce && (generator === narrow || loadedAtOnce === 9), answeredBefore.join());
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

test('adapters that come and go in the memory of others, also scored with, give the answers that they give alone', async (t) => {
  await withRandomCheckpoint(async (folder) => {
    const { config } = await openCheckpoint(join(folder, 'model'));
    const adapters: AdapterReference[] = [];
    // The adapters have the same size in memory, but one has zeros as padding where another has numbers.
    for (let seed = 0; seed < 40; seed += 1)
      adapters.push(await writeRandomAdapter(join(folder, `a${seed}`), config, seed, 1 + (seed % 8)));
    const bytes = adapterBytes(await loadAdapter(adapters[0]!, config));
    const prompt: ChatPrompt = { messages: [{ role: 'user', content: 'Who built it?' }] };
    const answers: unknown[] = [];
    const loads = t.mock.method(AdapterLoader.prototype, 'load');
    for (const maxAdapterBytes of [100 * bytes, 34 * bytes]) {
      const engine = await EmbeddedEngine.open({ modelDir: join(folder, 'model'), threads: 1, maxAdapterBytes });
      const calls = [...adapters, ...adapters].map(async (adapter, index) =>
        index % 3 === 0
          ? engine.score({ sequences: [{ tokens: [5, 9, 14], targetStart: 1 }], adapter, topK: 2 })
          : engine.generate({ prompt, adapter, maxOutputTokens: 2 + (index % 4), temperature: 0 }),
      );
      answers.push(await Promise.all(calls));
      await engine.close();
    }
    assert.deepEqual(answers[1], answers[0]);
    const given = loads.mock.calls.filter(({ arguments: [, memory] }) => memory !== undefined);
    assert.ok(given.length > 0, 'memory was given to others');
  });
});

test('an adapter is released once, however its job ends', async () => {
  await withGenerator(async ({ generator, adapters, adapter }) => {
    const generate = (name: string, changes: Partial<GenerationJob>, before: Promise<unknown> = Promise.resolve()) => {
      const load = () => before.then(() => ({ ...adapter, contentHash: name }));
      return generator.generate({ ...job(), ...changes, adapter: loadedBy(name, load) });
    };
    let finish = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const [waiting, running] = [new AbortController(), new AbortController()];
    const abortAtThirdToken = (output: readonly number[]): boolean => {
      if (output.length === 3) running.abort();
      return false;
    };
    const calls = [
      // This one is first, so its adapter is being loaded when it is cancelled.
      generate('cancelled while it waits', { signal: waiting.signal }, late),
      generate('ends', {}),
      generate('fails', { isComplete: failAtThirdToken }),
      generate('cancelled', { isComplete: abortAtThirdToken, signal: running.signal }),
      generate('refused', {}, Promise.reject(new EngineError('adapter_invalid', 'injected'))),
    ];
    waiting.abort();
    const outcomes = await Promise.allSettled(calls);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ends' : (outcome.reason as EngineError).code)),
      ['cancelled', 'ends', 'internal', 'cancelled', 'adapter_invalid'],
    );
    const once = { ends: 1, fails: 1, cancelled: 1 };
    assert.deepEqual(Object.fromEntries(adapters.released), once);
    finish();
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(Object.fromEntries(adapters.released), { ...once, 'cancelled while it waits': 1 });
    assert.deepEqual(adapters.released, adapters.held, 'the one that was refused was never held');
  });
});

test('an adapter that takes for ever to load holds up nobody who runs', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job());
    const running = generator.generate(job());
    let finish = (): void => undefined;
    // A fault injector: a disk that answers only when told to.
    const slow = new Promise<LoadedAdapter>((resolve) => {
      finish = () => resolve(adapter);
    });
    const waiting = generator.generate({ ...job(), adapter: loadedBy('slow', () => slow) });
    assert.deepEqual((await running).tokens, expected.tokens);
    finish();
    assert.deepEqual((await waiting).tokens, (await generator.generate(job({ adapter }))).tokens);
  });
});

/** A fault injector: an adapter on a disk that never answers. */
const neverLoads = (signal?: AbortSignal): GenerationJob => ({
  ...job(),
  adapter: loadedBy('never', () => new Promise<never>(() => undefined)),
  ...(signal === undefined ? {} : { signal }),
});

test('while an adapter loads for ever, those who are ready begin, in the order of their arrival', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = [await generator.generate(job()), await generator.generate(job({ adapter }))];
    const controller = new AbortController();
    const stuck = generator.generate(neverLoads(controller.signal));
    // The jobs of the first round come in one turn. Those of the second come while the generator only waits.
    for (let round = 0; round < 2; round += 1) {
      const order: number[] = [];
      const kept = loadedBy(adapter.contentHash, () => Promise.resolve(adapter), adapter);
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
      .generate({ ...job({ maxOutputTokens: 1 }), adapter: loadedBy('slow', () => loaded) })
      .then(note('slow'));
    await generator.generate(job());
    // Three jobs fill the batch. The others come after the slow one and must not begin before it for ever.
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
    // Closing does not wait for a disk, either.
    const closing = assert.rejects(generator.generate(neverLoads()), refused);
    await generator.close();
    await closing;
  });
});

test('two adapters load at a time, when it is known how large they may be and there is room for both', async () => {
  await withGenerator(async ({ generator: roomy, adapter, model }) => {
    const narrow = new Generator(model, new TestAdapters(1), 3);
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
          return generator.generate({ ...job(), signal, adapter: loadedBy('never', load) });
        });
        for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        const begunAtOnce = loads;
        for (const controller of controllers.reverse()) controller.abort();
        await Promise.allSettled(stuck);
        return begunAtOnce;
      };
      assert.equal(await begun(), before);
      await generator.generate({ ...job(), adapter: loadedBy('a', () => Promise.resolve(adapter)) });
      assert.equal(await begun(), after);
    }
    await narrow.close();
  });
});
