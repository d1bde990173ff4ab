/** In a large model, rows without an adapter go through the graph with adapters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { weightFormats } from '../model/quantization.js';
import { loadQuantizedWeights, quantizedBytes } from '../model/quantizedWeights.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { weightBytes } from '../model/weights.js';
import { Session } from '../onnx/session.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { copies } from '../testing/runs.js';
import { ModelRunner, type LoadedModel } from './modelRunner.js';
import { KvCache, noContents } from '../cache/kvCache.js';
import { loadAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';

const prompt = [7, 11, 13, 17];

/**
 * Collects logits after a prompt and after one more token, for three batches: two rows without an adapter, one row with
 * an adapter, and one row of each kind.
 */
async function answers(
  runner: ModelRunner,
  { config }: LoadedModel,
  adapter: LoadedAdapter,
): Promise<readonly Float32Array[]> {
  const logits: Float32Array[] = [];
  for (const adapters of [[null, null], [adapter], [adapter, null]]) {
    const cache = new KvCache(config);
    cache.reserve(prompt.length + 1, adapters.length, noContents);
    logits.push(...copies([await runner.append(cache, prompt, 0, adapters[0] ?? null)]));
    if (adapters.length === 2) cache.copy(cache, 0, 1, prompt.length);
    const rows = adapters.map((own, row) => ({ token: 5 + row, cachedTokens: prompt.length, adapter: own }));
    logits.push(...copies(await runner.decode(cache, rows)));
  }
  return logits;
}

for (const format of weightFormats) {
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
        const runner = new ModelRunner(model, undefined, minBytes);
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
