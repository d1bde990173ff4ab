/** Running the decoder's graphs directly, for tests of the graphs themselves. */
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { RowAdapters, sharedAdapterFeeds } from '../generation/adapterFeeds.js';
import { KvCache } from '../generation/kvCache.js';
import type { GenerationJob, JobAdapter } from '../generation/generationJob.js';
import { createServingSession } from '../generation/servingSession.js';
import { stepFeeds } from '../generation/stepFeeds.js';
import { prepareAdapter, type LoadedAdapter } from '../generation/loadedAdapter.js';
import type { DecoderConfig } from '../model/config.js';
import { buildInferenceGraph } from '../model/inferenceGraph.js';
import { weightFeeds, type Feeds } from '../model/inputs.js';
import { buildScoreGraph } from '../model/scoreGraph.js';
import type { QuantizedWeights } from '../model/servingWeights.js';
import { readerOf, type DecoderWeights } from '../model/weights.js';
import { createSession } from '../onnx/session.js';

export interface TestModel {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
}

/** A job, but with an adapter that is in memory already. */
export type JobChanges = Partial<Omit<GenerationJob, 'adapter'>> & { readonly adapter?: LoadedAdapter | null };

/** An adapter in memory as a job wants it. */
export function inMemory(adapter: LoadedAdapter | null): JobAdapter | null {
  return adapter && { contentHash: adapter.contentHash, load: () => Promise.resolve(adapter) };
}

/** Log-probabilities of every vocabulary entry after every token: `[sequence][token]` is a vector over ids. */
export async function scoreEverything(
  { config, weights }: TestModel,
  adapter: LoraAdapter | null,
  sequences: readonly (readonly number[])[],
): Promise<Float32Array[][]> {
  const session = await createSession(buildScoreGraph(config, { adapter: adapter !== null }), { threads: 1 });
  const length = Math.max(...sequences.map((tokens) => tokens.length));
  const ids = new BigInt64Array(sequences.length * length);
  for (const [row, tokens] of sequences.entries()) ids.set(tokens.map(BigInt), row * length);
  const places = sequences.flatMap((tokens, row) => tokens.map((_, index) => row * length + index));
  const feeds: Record<string, Tensor> = {
    ...weightFeeds(config, weights),
    ...(adapter === null ? {} : sharedAdapterFeeds(prepareAdapter('', adapter, config), config)),
    ids: new Tensor('int64', ids, [sequences.length, length]),
    positions: new Tensor('int64', BigInt64Array.from(places, BigInt), [places.length]),
    targets: new Tensor('int64', new BigInt64Array(places.length), [places.length]),
    k: new Tensor('int64', BigInt64Array.of(BigInt(config.vocabularySize)), [1]),
  };
  const outputs = await session.run(feeds);
  const byRank = outputs['top.logprobs']?.data as Float32Array;
  const topIds = outputs['top.ids']?.data as BigInt64Array;
  const rows = places.map((_, place) => {
    const row = new Float32Array(config.vocabularySize);
    for (let index = place * row.length; index < (place + 1) * row.length; index += 1) {
      row[Number(topIds[index])] = byRank[index] ?? NaN;
    }
    return row;
  });
  await session.release();
  return sequences.map((tokens) => rows.splice(0, tokens.length));
}

/** A batch of sequences over one cache, each with its adapter. */
export class CachedBatch {
  private readonly cache: KvCache;
  private readonly lengths: number[];

  private constructor(
    private readonly session: InferenceSession,
    private readonly weights: Feeds,
    private readonly config: DecoderConfig,
    private readonly adapterFeeds: Feeds,
    batchSize: number,
  ) {
    this.lengths = Array.from({ length: batchSize }, () => 0);
    this.cache = new KvCache(config);
  }

  /** `undefined` builds the graph that knows no adapters. */
  static async open(
    model: TestModel,
    adapters: readonly (LoraAdapter | null)[] | undefined,
    batchSize: number,
    quantized?: QuantizedWeights,
  ): Promise<CachedBatch> {
    const { config, weights } = model;
    const graph = buildInferenceGraph(config, {
      adapters: adapters !== undefined,
      format: quantized?.format ?? 'f32',
    });
    const feeds = weightFeeds(config, weights);
    const session = await createServingSession(graph, { reader: readerOf(weights), quantized }, 1);
    const loaded = adapters?.map((adapter) => (adapter === null ? null : prepareAdapter('', adapter, config)));
    const adapterFeeds = loaded === undefined ? {} : new RowAdapters(config).feeds(loaded);
    return new CachedBatch(session, feeds, config, adapterFeeds, batchSize);
  }

  /** Appends to each sequence its row of tokens, and returns the logits after the last one. */
  async append(rows: readonly (readonly number[])[]): Promise<Float32Array[]> {
    const width = Math.max(...rows.map((row) => row.length));
    this.cache.reserve(Math.max(...this.lengths) + width, rows.length);
    const steps = rows.map((tokens, index) => ({ tokens, cachedTokens: this.lengths[index] ?? 0 }));
    const results = await this.session.run({
      ...this.weights,
      ...this.adapterFeeds,
      ...this.cache.view(rows.length),
      ...stepFeeds(this.config, steps, this.cache.tokensPerSlot),
    });
    const logits = results['logits']?.data as Float32Array;
    const state = results['state']?.data as Float32Array;
    return rows.map((row, index) => {
      // What follows the end of a shorter row is overwritten by its next tokens, and unseen until then.
      this.cache.write(index, this.lengths[index] ?? 0, state, index, rows.length);
      this.lengths[index] = (this.lengths[index] ?? 0) + row.length;
      return logits.slice(index * this.config.vocabularySize, (index + 1) * this.config.vocabularySize);
    });
  }
}

export function logSoftmax(logits: Float32Array): Float32Array {
  const greatest = Math.max(...logits);
  const sum = logits.reduce((total, value) => total + Math.exp(value - greatest), 0);
  return logits.map((value) => value - greatest - Math.log(sum));
}
