/** The logits of a row depend neither on the rest of its batch nor on what the cache held before. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import { KvCache, noContents } from '../cache/kvCache.js';
import { openCheckpoint } from '../checkpoint/checkpoint.js';
import { generationThreads } from '../inference/generationThreads.js';
import { ModelRunner, type DecodeRow } from '../inference/modelRunner.js';
import type { DecoderConfig } from '../model/config.js';
import { weightFormats, type WeightFormat } from '../model/quantization.js';
import { loadQuantizedWeights } from '../model/quantizedWeights.js';
import { SharedWeights } from '../model/sharedWeights.js';
import { allFinite } from '../support/finite.js';
import { uneven } from '../testing/engines.js';
import { withRandomCheckpoint, writeRandomAdapter } from '../testing/randomCheckpoint.js';
import { copies } from '../testing/runs.js';

interface BatchCase {
  readonly hiddenSize: number;
  readonly ffnSize: number;
  readonly headDim: number;
  readonly layers?: number;
  readonly heads?: number;
  /** The threads of generation, all of which `generationThreads` must use for this model. */
  readonly threads?: number;
}

/**
 * Narrow models, some with widths that are multiples of neither a vector nor a block of quantised numbers, and models
 * that are wide enough for several threads.
 */
const batchCases: readonly BatchCase[] = [
  { hiddenSize: 32, ffnSize: 64, headDim: 16 },
  { hiddenSize: 40, ffnSize: 72, headDim: 10 },
  { hiddenSize: 192, ffnSize: 384, headDim: 64 },
  { hiddenSize: 192, ffnSize: 384, headDim: 24 },
  ...[2, 3].map((threads) => ({ hiddenSize: 520, ffnSize: 1544, headDim: 64, layers: 1, threads })),
  // There are more threads than heads, and the heads are so wide that their keys take many blocks.
  { hiddenSize: 520, ffnSize: 1544, headDim: 512, layers: 1, heads: 2, threads: 3 },
];

/** The largest batch. No two of its rows are alike. */
const maxRows = 8;

async function openRunner(
  modelDir: string,
  threads: number,
  format: WeightFormat,
): Promise<{ readonly runner: ModelRunner; readonly config: DecoderConfig }> {
  const { config, weights, description } = await openCheckpoint(modelDir);
  const model = { config, weights: await SharedWeights.open(config, weights), threads };
  if (format === 'f32') return { runner: new ModelRunner(model), config };
  const source = { config, reader: weights, contentHash: description.contentHash };
  const quantized = await loadQuantizedWeights(source, format, undefined);
  return { runner: new ModelRunner({ ...model, quantized }), config };
}

/** No adapter, and adapters of different ranks. The last one has several ranks in itself. */
async function mixedAdapters(folder: string, config: DecoderConfig): Promise<readonly (LoadedAdapter | null)[]> {
  const references = await Promise.all(
    [2, 20, 5].map((rank) => writeRandomAdapter(join(folder, `a${rank}`), config, rank, rank)),
  );
  references.push(await writeRandomAdapter(join(folder, 'uneven'), config, 1, 3, uneven));
  return [null, ...(await Promise.all(references.map((reference) => loadAdapter(reference, config))))];
}

test('what an earlier sequence left beyond the end of another has no influence, however large', async () => {
  await withRandomCheckpoint(async (folder) => {
    const { config, weights } = await openCheckpoint(join(folder, 'model'));
    const runner = new ModelRunner({ config, weights: await SharedWeights.open(config, weights), threads: 1 });
    const answer = async (left: number) => {
      const cache = new KvCache(config);
      cache.write(0, 0, new Float32Array(cache.read(0, 0, 60).length).fill(left));
      const logits = copies([await runner.append(cache, [7, 11, 13], 0, null)]);
      return [...logits, ...copies(await runner.decode(cache, [{ token: 5, cachedTokens: 3, adapter: null }]))];
    };
    const expected = await answer(0);
    for (const left of [1, 1e12, 3e38, Infinity, NaN]) assert.deepEqual(await answer(left), expected, `${left}`);
    await runner.close();
  });
});

for (const format of weightFormats) {
  for (const { hiddenSize, ffnSize, headDim, layers = 2, heads = 4, threads = 1 } of batchCases) {
    test(`a row’s logits are the same to the last bit alone and in any batch: ${format}, ${hiddenSize} wide, ${heads} heads of ${headDim}, ${threads} threads`, async () => {
      const changes = {
        hidden_size: hiddenSize,
        intermediate_size: ffnSize,
        head_dim: headDim,
        num_hidden_layers: layers,
        num_attention_heads: heads,
      };
      await withRandomCheckpoint(async (folder) => {
        const { runner, config } = await openRunner(join(folder, 'model'), threads, format);
        assert.equal(generationThreads(config, threads), threads, 'the case is about fewer threads than it says');
        const prefill = async (cache: KvCache, slot: number, { cachedTokens, adapter }: DecodeRow): Promise<void> => {
          const staging = new KvCache(config);
          const prompt = Array.from({ length: cachedTokens }, (_, index) => (index * cachedTokens) % 384);
          staging.reserve(cachedTokens, 1, noContents);
          await runner.append(staging, prompt, 0, adapter);
          cache.reserve(cachedTokens + 1, slot + 1, { slots: slot, tokens: cachedTokens });
          cache.copy(staging, 0, slot, cachedTokens);
        };
        const mixed = await mixedAdapters(folder, config);
        // No row has an adapter, all rows have the same one, and rows have different ones or none.
        for (const adapters of [[null], mixed.slice(-1), mixed]) {
          const rows = Array.from({ length: maxRows }, (_, row): DecodeRow => {
            return { token: 5 + row, cachedTokens: 3 + 30 * row, adapter: adapters[row % adapters.length] ?? null };
          });
          const alone: Float32Array[] = [];
          for (const row of rows) {
            const cache = new KvCache(config);
            await prefill(cache, 0, row);
            alone.push(...copies(await runner.decode(cache, [row])));
          }
          assert.ok(alone.every((logits) => allFinite(logits)));
          const cache = new KvCache(config);
          for (const count of [2, 3, 4, 5, maxRows]) {
            for (const [slot, row] of rows.slice(0, count).entries()) await prefill(cache, slot, row);
            const together = copies(await runner.decode(cache, rows.slice(0, count)));
            assert.deepEqual(together, alone.slice(0, count), `${count} rows, ${adapters.length} adapters`);
          }
        }
        await runner.close();
      }, changes);
    });
  }
}
