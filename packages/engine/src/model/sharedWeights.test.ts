import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine.js';
import { randomWeights, TINY_CONFIG } from '../testing/fixtures.js';
import { ROPE_COS, ROPE_SIN, weightFeeds } from './inputs.js';
import { SharedWeights } from './sharedWeights.js';
import { decoderWeightShapes, EMBEDDING, readerOf, type WeightReader } from './weights.js';

const WEIGHTS = randomWeights(TINY_CONFIG, 1);
const NAMES = [...decoderWeightShapes(TINY_CONFIG).keys()];

/** Notes the names that are read; fails while `broken`. */
class WatchedReader implements WeightReader {
  readonly reads: string[][] = [];
  broken = false;

  async read(places: Parameters<WeightReader['read']>[0]): Promise<void> {
    this.reads.push([...places.keys()]);
    if (this.broken) throw new EngineError('checkpoint_invalid', 'gone');
    await readerOf(WEIGHTS).read(places);
  }

  blocks(name: string): AsyncIterable<Float32Array> {
    return readerOf(WEIGHTS).blocks(name);
  }
}

test('only what is looked up is in memory, the rest while somebody uses it and for a while after', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reader = new WatchedReader();
  const shared = await SharedWeights.open(TINY_CONFIG, reader, { idleMs: 1000 });
  assert.deepEqual(reader.reads, [[EMBEDDING]]);
  assert.deepEqual(Object.keys(shared.tables.tensors), [EMBEDDING, ROPE_COS, ROPE_SIN]);
  assert.equal(shared.inMemory, false);

  const [first, second] = await Promise.all([shared.use(), shared.use()]);
  assert.deepEqual(reader.reads.slice(1), [NAMES.filter((name) => name !== EMBEDDING)], 'read once, for both');
  assert.deepEqual(first.feeds, weightFeeds(TINY_CONFIG, WEIGHTS));
  assert.equal(first.feeds, second.feeds);
  assert.equal(first.feeds[EMBEDDING]?.data, shared.tables.tensors[EMBEDDING]?.data, 'not in memory twice');
  const matrix = first.feeds['model.layers.0.mlp.up_proj.weight']?.data;
  for (const data of [matrix, first.feeds[EMBEDDING]?.data]) {
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

test('weights that could not be read are read again by who asks next', async () => {
  const reader = new WatchedReader();
  const shared = await SharedWeights.open(TINY_CONFIG, reader);
  reader.broken = true;
  const attempts = await Promise.allSettled([shared.use(), shared.use()]);
  for (const attempt of attempts) {
    assert.ok(attempt.status === 'rejected' && attempt.reason instanceof EngineError);
    assert.equal(attempt.reason.code, 'checkpoint_invalid');
  }
  assert.equal(shared.inMemory, false);
  reader.broken = false;
  const { feeds, release } = await shared.use();
  assert.deepEqual(feeds, weightFeeds(TINY_CONFIG, WEIGHTS));
  release();
});
