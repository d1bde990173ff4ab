/** In a large model, rows without an adapter go through the graph with adapters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { WEIGHT_FORMATS } from '../model/quantization.js';
import { loadQuantizedWeights, quantizedBytes } from '../model/quantizedWeights.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { weightBytes } from '../model/weights.js';
import { Session } from '../onnx/session.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { copies } from '../testing/runs.js';
import { InferenceRunner, type LoadedModel } from './inferenceRunner.js';
import { KvCache, NOTHING_KEPT } from './kvCache.js';
import { loadAdapter, type LoadedAdapter } from './loadedAdapter.js';

const PROMPT = [7, 11, 13, 17];

/**
 * What follows the prompt without an adapter, and what the next tokens of two rows without one, of one with, and of one
 * of each give.
 */
async function answers(
  runner: InferenceRunner,
  { config }: LoadedModel,
  adapter: LoadedAdapter,
): Promise<readonly Float32Array[]> {
  const logits: Float32Array[] = [];
  for (const adapters of [[null, null], [adapter], [adapter, null]]) {
    const cache = new KvCache(config);
    cache.reserve(PROMPT.length + 1, adapters.length, NOTHING_KEPT);
    logits.push(...copies([await runner.append(cache, PROMPT, 0, adapters[0] ?? null)]));
    if (adapters.length === 2) cache.copy(cache, 0, 1, PROMPT.length);
    const rows = adapters.map((own, row) => ({ token: 5 + row, cachedTokens: PROMPT.length, adapter: own }));
    logits.push(...copies(await runner.decode(cache, rows)));
  }
  return logits;
}

for (const format of WEIGHT_FORMATS) {
  test(`the matrices of a large model are there once, and every row is as it is with a graph for each kind: ${format}`, async (t) => {
    await withRandomCheckpoint(async (folder) => {
      const { config, weights, description } = await openCheckpoint(join(folder, 'model'));
      const source = { config, reader: weights, contentHash: description.contentHash };
      const model: LoadedModel = {
        config,
        weights: await SharedWeights.open(config, weights),
        threads: 1,
        ...(format === 'f32' ? {} : { quantized: await loadQuantizedWeights(source, format, undefined) }),
      };
      const adapter = await loadAdapter(await writeRandomAdapter(join(folder, 'adapter'), config, 3), config);
      const bytes = format === 'f32' ? weightBytes(config) : quantizedBytes(config, format);
      const created = t.mock.method(Session, 'create').mock;
      const all: (readonly Float32Array[])[] = [];
      for (const [minBytes, sessions] of [
        [bytes + 1, 2],
        [bytes, 1],
      ] as const) {
        created.resetCalls();
        const runner = new InferenceRunner(model, undefined, minBytes);
        all.push(await answers(runner, model, adapter));
        await runner.close();
        assert.equal(created.callCount(), sessions);
      }
      const [two, one] = all;
      assert.notDeepEqual(two![0], two![3], 'an adapter changes something');
      assert.deepEqual(one, two);
    });
  });
}
