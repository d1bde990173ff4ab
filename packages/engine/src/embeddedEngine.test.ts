import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedEngine } from './embeddedEngine.js';
import { EngineError } from './engine.js';
import { essence, request, user, withEngine } from './testing/engines.js';
import { withRandomCheckpoint } from './testing/randomCheckpoint.js';

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
