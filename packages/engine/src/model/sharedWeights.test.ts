import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { EngineError } from '../engine.js';
import { randomWeights, tinyConfig, readerOf } from '../testing/fixtures.js';
import { ropeCos, ropeSin, weightFeeds } from './inputs.js';
import { SharedWeights } from './sharedWeights.js';
import { decoderWeightShapes, embeddingName, type WeightReader } from './weights.js';

const weights = randomWeights(tinyConfig, 1);
const names = [...decoderWeightShapes(tinyConfig).keys()];

/** Records the names that are read. Rejects while `broken` is true. */
class WatchedReader implements WeightReader {
  readonly reads: string[][] = [];
  broken = false;

  async read(places: Parameters<WeightReader['read']>[0]): Promise<void> {
    this.reads.push([...places.keys()]);
    if (this.broken) throw new EngineError('checkpoint_invalid', 'gone');
    await readerOf(weights).read(places);
  }

  blocks(name: string): AsyncIterable<Float32Array> {
    return readerOf(weights).blocks(name);
  }
}

test('only what is looked up is in memory, the rest while somebody uses it and for a while after', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reader = new WatchedReader();
  const shared = await SharedWeights.open(tinyConfig, reader, { idleMs: 1000 });
  assert.deepEqual(reader.reads, [[embeddingName]]);
  assert.deepEqual(Object.keys(shared.tables.tensors), [embeddingName, ropeCos, ropeSin]);
  assert.equal(shared.inMemory, false);

  const [first, second] = await Promise.all([shared.use(), shared.use()]);
  assert.deepEqual(reader.reads.slice(1), [names.filter((name) => name !== embeddingName)], 'read once, for both');
  assert.deepEqual(first.feeds, weightFeeds(tinyConfig, weights));
  assert.equal(first.feeds, second.feeds);
  assert.equal(first.feeds[embeddingName]?.data, shared.tables.tensors[embeddingName]?.data, 'not in memory twice');
  const matrix = first.feeds['model.layers.0.mlp.up_proj.weight']?.data;
  for (const data of [matrix, first.feeds[embeddingName]?.data]) {
    assert.ok(data?.buffer instanceof SharedArrayBuffer, 'a thread that helps has no copy');
  }

  first.release();
  t.mock.timers.tick(5000);
  assert.equal(shared.inMemory, true, 'the second still uses them');
  second.release();
  t.mock.timers.tick(999);
  assert.equal(shared.inMemory, true);
  const third = await shared.use();
  t.mock.timers.tick(5000);
  assert.equal(shared.inMemory, true, 'they are used again');
  third.release();
  t.mock.timers.tick(1000);
  assert.equal(shared.inMemory, false);
  assert.equal(reader.reads.length, 2);
  (await shared.use()).release();
  assert.equal(reader.reads.length, 3);
});

test('memory goes back to the system as soon as the weights are forgotten', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const collections = withCollector(t);
  const shared = await SharedWeights.open(tinyConfig, new WatchedReader(), { idleMs: 1000 });
  const freed: number[] = [];
  shared.whenForgotten(() => Promise.resolve(void freed.push(collections.count)));
  const { release } = await shared.use();
  release();
  t.mock.timers.tick(999);
  await setImmediate();
  assert.deepEqual([freed, collections.count], [[], 0]);
  t.mock.timers.tick(1);
  await setImmediate();
  assert.deepEqual(
    [freed, collections.count],
    [[0], 1],
    'first what is of use with the weights, then both are collected',
  );
});

test('whoever wants the memory need not wait for that, and whoever uses the weights keeps them', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const collections = withCollector(t);
  const shared = await SharedWeights.open(tinyConfig, new WatchedReader(), { idleMs: 1000 });
  await shared.forgetUnused();
  const { release } = await shared.use();
  await shared.forgetUnused();
  assert.deepEqual([shared.inMemory, collections.count], [true, 0]);
  release();
  await shared.forgetUnused();
  assert.deepEqual([shared.inMemory, collections.count], [false, 1]);
  (await shared.use()).release();
  t.mock.timers.tick(999);
  assert.equal(shared.inMemory, true, 'the time before does not count');
});

/** Counts the garbage collections that are asked for, of which V8 would do none in a process without `--expose-gc`. */
function withCollector(t: TestContext): { count: number } {
  const collections = { count: 0 };
  const { gc } = globalThis;
  globalThis.gc = async () => {
    collections.count += 1;
    return Promise.resolve();
  };
  t.after(() => {
    globalThis.gc = gc;
  });
  return collections;
}

test('weights that could not be read are read again by who asks next', async () => {
  const reader = new WatchedReader();
  const shared = await SharedWeights.open(tinyConfig, reader);
  reader.broken = true;
  const attempts = await Promise.allSettled([shared.use(), shared.use()]);
  for (const attempt of attempts) {
    assert.ok(attempt.status === 'rejected' && attempt.reason instanceof EngineError);
    assert.equal(attempt.reason.code, 'checkpoint_invalid');
  }
  assert.equal(shared.inMemory, false);
  reader.broken = false;
  const { feeds, release } = await shared.use();
  assert.deepEqual(feeds, weightFeeds(tinyConfig, weights));
  release();
});
