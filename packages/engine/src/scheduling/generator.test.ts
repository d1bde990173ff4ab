import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { EmbeddedEngine } from '../embeddedEngine.js';
import { EngineError } from '../engine.js';
import { withRandomCheckpoint } from '../testing/randomCheckpoint.js';
import type { JobChanges } from '../testing/runs.js';
import { AdapterLoader } from '../adapters/adapterLoader.js';
import type { JoinedMatrices } from '../adapters/joinedMatrices.js';
import { Generator } from './generator.js';
import { prefillChunk } from '../cache/prefixCache.js';
import { ModelRunner } from '../inference/modelRunner.js';
import { KvCache } from '../cache/kvCache.js';
import { TestAdapters } from '../testing/testAdapters.js';
import { failAtThirdToken, job, withGenerator } from '../testing/generators.js';

test('what goes wrong in one sequence ends no other', async () => {
  await withGenerator(async ({ generator, adapter }) => {
    const expected = await generator.generate(job());
    const notANumber = new Map(
      [...adapter.groups].map(([name, { ranks, a, b }]) => [name, { ranks, a: a.map(() => NaN), b }]),
    );
    const [unharmed, alsoUnharmed, ...failed] = await Promise.allSettled([
      generator.generate(job()),
      generator.generate(job({ adapter })),
      generator.generate(job({ isComplete: failAtThirdToken })),
      generator.generate(job({ adapter: { ...adapter, groups: notANumber } })),
    ]);
    assert.deepEqual(unharmed, { status: 'fulfilled', value: expected });
    assert.equal(alsoUnharmed.status, 'fulfilled');
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
    // A fault injector: the adapter can be read for its own prompt, but not when it is stacked for a batch.
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
    // These three fill the batch.
    const jobs = [job(), job({ adapter: unreadable, isComplete }), job()];
    const shared = jobs.map((each) => generator.generate(each));
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

/** Records the generators' turns from now on: `r` when a chunk of a prompt is read, `s` when the running jobs step. */
function turnsOf(t: TestContext): string[] {
  const turns: string[] = [];
  for (const name of ['append', 'decode'] as const) {
    const run = Object.getOwnPropertyDescriptor(ModelRunner.prototype, name)?.value as (
      ...args: unknown[]
    ) => Promise<unknown>;
    t.mock.method(ModelRunner.prototype, name, function (this: ModelRunner, ...args: unknown[]) {
      turns.push(name === 'append' ? 'r' : 's');
      return run.apply(this, args);
    });
  }
  return turns;
}

test('in a crowd several prompts are read before the next step, but never two chunks of a long one', async (t) => {
  await withGenerator(async ({ generator }) => {
    const turns = turnsOf(t);
    const generate = (changes: JobChanges): Promise<unknown> => generator.generate(job(changes));
    await Promise.all(Array.from({ length: 9 }, () => generate({ maxOutputTokens: 3 })));
    assert.equal(turns.splice(0).join(''), 'rrrssrrrssrrrss', 'three rows at once');
    const prompt = Array.from({ length: 3 * prefillChunk }, () => 7);
    await Promise.all([
      generate({ maxOutputTokens: 6 }),
      ...[1, 2, 3].map(() => generate({ prompt, maxOutputTokens: 1 })),
    ]);
    assert.equal(turns.splice(0).join('').slice(0, 11), 'rrsrsrrsrsr');
  });
});

test('as many as run are read before the next step, four at most; fewer one at a time between steps', async (t) => {
  await withGenerator(async ({ model }) => {
    const generator = new Generator(model, new TestAdapters(), 8);
    for (const [count, expected] of [
      [2, 'rrrsrsrs'],
      [3, 'rrrsrrrs'],
      [5, 'rrrsrrrrsrs'],
    ] as const) {
      const turns = turnsOf(t);
      const later: Promise<unknown>[] = [];
      const isComplete = (output: readonly number[]): boolean => {
        if (output.length === 2) for (let index = 0; index < count; index += 1) later.push(generator.generate(job()));
        return false;
      };
      await Promise.all([
        generator.generate(job({ isComplete })),
        generator.generate(job()),
        generator.generate(job()),
      ]);
      await Promise.all(later);
      assert.equal(turns.join('').slice(0, expected.length), expected);
    }
    await generator.close();
  });
});
