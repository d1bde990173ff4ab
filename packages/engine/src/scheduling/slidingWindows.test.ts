/**
 * Compares attention over the cache with the decoder in plain loops: windows, chunks, batches of unequal lengths, and
 * the memory beyond a sequence's end.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedWeights } from '../model/sharedWeights.js';
import { greatestDifference, randomWeights, tinyConfig, readerOf } from '../testing/fixtures.js';
import { referenceLogits } from '../testing/referenceDecoder.js';
import { ModelRunner } from '../inference/modelRunner.js';
import { KvCache, noContents } from '../cache/kvCache.js';

const textLength = 130;
const tokens = Array.from({ length: textLength }, (_, index) => (index * index * 7 + 3) % 53);

/** The cache is full of NaN, so that a wrong read shows in every logit. */
function emptyCache(config: typeof tinyConfig, slots: number): KvCache {
  const cache = new KvCache(config);
  cache.reserve(textLength, slots, noContents);
  const nothing = new Float32Array(cache.read(0, 0, textLength).length).fill(NaN);
  for (let slot = 0; slot < slots; slot += 1) cache.write(slot, 0, nothing);
  return cache;
}

for (const layerWindows of [
  [null, null],
  [1, 2],
  [3, 64],
  [65, 63],
  [100, 1],
]) {
  test(`chunks of prompts and ragged batches see what their windows of ${layerWindows.join(' and ')} show, and nothing else`, async () => {
    const config = { ...tinyConfig, contextLength: 200, layerWindows };
    const weights = new Map(
      Array.from(randomWeights(config, 3), ([name, { shape, data }]) => {
        // Smaller weights make scores more even, so that many tokens influence the result.
        return [name, { shape, data: name.includes('proj') ? data.map((value) => value / 2) : data }] as const;
      }),
    );
    const expected = referenceLogits({ config, weights }, tokens).map((row) => Float32Array.from(row));
    const shared = await SharedWeights.open(config, readerOf(weights));
    const runner = new ModelRunner({ config, weights: shared, threads: 1 });
    const agrees = (logits: Float32Array, place: number): void => {
      assert.ok(greatestDifference(logits, expected[place]!) <= 1e-4, `token ${place}`);
    };
    const read = async (length: number, chunk: number): Promise<KvCache> => {
      const cache = emptyCache(config, 1);
      for (let start = 0; start < length; start += chunk) {
        const end = Math.min(length, start + chunk);
        agrees(await runner.append(cache, tokens.slice(start, end), start, null), end - 1);
      }
      return cache;
    };
    for (const [length, chunk] of [
      [textLength, 64],
      [textLength, 7],
      [20, 1],
    ] as const) {
      await read(length, chunk);
    }
    const lengths = [1, 3, 70, 110];
    const batch = emptyCache(config, lengths.length);
    for (const [slot, length] of lengths.entries()) batch.copy(await read(length, 64), 0, slot, length);
    for (let step = 0; step < 20; step += 1) {
      const rows = lengths.map((length) => {
        const place = length + step;
        return { token: tokens[place] ?? 0, cachedTokens: place, adapter: null };
      });
      const logits = await runner.decode(batch, rows);
      for (const [row, { cachedTokens }] of rows.entries()) agrees(logits[row]!, cachedTokens);
    }
    await runner.close();
  });
}
