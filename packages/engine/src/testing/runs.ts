/** Runs the decoder's graphs directly, for tests of the graphs. */
import type { LoraAdapter } from '../adapters/loraAdapter.js';
import { sharedAdapterFeeds } from '../adapters/batchAdapters.js';
import { KvCache, noContents } from '../cache/kvCache.js';
import type { GenerationJob } from '../scheduling/generationJob.js';
import { ModelRunner } from '../inference/modelRunner.js';
import { prepareAdapter, type LoadedAdapter } from '../adapters/loadedAdapter.js';
import type { DecoderConfig } from '../model/config.js';
import { weightFeeds } from '../model/inputs.js';
import { buildScoreGraph } from '../model/scoreGraph.js';
import type { QuantizedWeights } from '../model/servingWeights.js';
import { SharedWeights } from '../model/sharedWeights.js';
import type { DecoderWeights } from '../model/weights.js';
import { Session } from '../onnx/session.js';
import { Tensor } from '../onnx/tensor.js';
import { readerOf } from './fixtures.js';

export interface TestModel {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
}

/** Changes to a job, with an adapter in memory in place of a reference. */
export type JobChanges = Partial<Omit<GenerationJob, 'adapter'>> & { readonly adapter?: LoadedAdapter | null };

/** Log-probabilities of every vocabulary entry after every token: `[sequence][token]` is a vector over ids. */
export async function scoreEverything(
  { config, weights }: TestModel,
  adapter: LoraAdapter | null,
  sequences: readonly (readonly number[])[],
): Promise<Float32Array[][]> {
  const session = await Session.create(buildScoreGraph(config, { adapter: adapter !== null }), { threads: 1 });
  const length = Math.max(...sequences.map((tokens) => tokens.length));
  const ids = new BigInt64Array(sequences.length * length);
  for (const [row, tokens] of sequences.entries()) ids.set(tokens.map(BigInt), row * length);
  const places = sequences.flatMap((tokens, row) => tokens.map((_, index) => row * length + index));
  const feeds: Record<string, Tensor> = {
    ...weightFeeds(config, weights),
    ...(adapter === null ? {} : sharedAdapterFeeds(prepareAdapter('', adapter, config), config)),
    ids: new Tensor(ids, [sequences.length, length]),
    positions: new Tensor(BigInt64Array.from(places, BigInt), [places.length]),
    targets: new Tensor(new BigInt64Array(places.length), [places.length]),
    k: new Tensor(BigInt64Array.of(BigInt(config.vocabularySize)), [1]),
  };
  const shape = [places.length, config.vocabularySize];
  const byRank = new Float32Array(places.length * config.vocabularySize);
  const topIds = new BigInt64Array(byRank.length);
  await session.run([feeds], [{ 'top.logprobs': new Tensor(byRank, shape), 'top.ids': new Tensor(topIds, shape) }]);
  const rows = places.map((_, place) => {
    const row = new Float32Array(config.vocabularySize);
    for (let index = place * row.length; index < (place + 1) * row.length; index += 1) {
      row[Number(topIds[index])] = byRank[index] ?? NaN;
    }
    return row;
  });
  session.release();
  return sequences.map((tokens) => rows.splice(0, tokens.length));
}

/** A batch of sequences over one cache, each with its own adapter. */
export class CachedBatch {
  private readonly cache: KvCache;
  private readonly lengths: number[];

  private constructor(
    private readonly runner: ModelRunner,
    private readonly config: DecoderConfig,
    private readonly adapters: readonly (LoadedAdapter | null)[],
  ) {
    this.lengths = adapters.map(() => 0);
    this.cache = new KvCache(config);
  }

  static async open(
    { config, weights }: TestModel,
    adapters: readonly (LoraAdapter | null)[],
    quantized?: QuantizedWeights,
  ): Promise<CachedBatch> {
    const shared = await SharedWeights.open(config, readerOf(weights));
    const model = { config, weights: shared, threads: 1, ...(quantized === undefined ? {} : { quantized }) };
    const loaded = adapters.map((adapter) => adapter && prepareAdapter('', adapter, config));
    return new CachedBatch(new ModelRunner(model), config, loaded);
  }

  /**
   * Appends a row of tokens to each sequence, together if each row has one token. Returns the logits after the last
   * token.
   */
  async append(rows: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
    const kept = { slots: rows.length, tokens: Math.max(...this.lengths) };
    this.cache.reserve(Math.max(...rows.map((tokens, slot) => this.lengthOf(slot) + tokens.length)), rows.length, kept);
    const isStep = rows.every((tokens) => tokens.length === 1);
    const logits = isStep ? copies(await this.decode(rows.flat())) : await this.read(rows);
    rows.forEach((tokens, slot) => (this.lengths[slot] = this.lengthOf(slot) + tokens.length));
    return logits;
  }

  private decode(tokens: readonly number[]): Promise<readonly Float32Array[]> {
    const rows = tokens.map((token, slot) => ({
      token,
      cachedTokens: this.lengthOf(slot),
      adapter: this.adapters[slot] ?? null,
    }));
    return this.runner.decode(this.cache, rows);
  }

  private async read(rows: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
    const logits: Float32Array[] = [];
    for (const [slot, tokens] of rows.entries()) {
      const staging = new KvCache(this.config);
      const before = this.lengthOf(slot);
      staging.reserve(before + tokens.length, 1, noContents);
      staging.copy(this.cache, slot, 0, before);
      logits.push(...copies([await this.runner.append(staging, tokens, before, this.adapters[slot] ?? null)]));
      this.cache.copy(staging, 0, slot, before + tokens.length);
    }
    return logits;
  }

  private lengthOf(slot: number): number {
    return this.lengths[slot] ?? 0;
  }
}

/** Copies logits, which a runner keeps only until its next run. */
export function copies(logits: readonly Float32Array[]): readonly Float32Array[] {
  return logits.map((ofRow) => Float32Array.from(ofRow));
}

export function logSoftmax(logits: Float32Array): Float32Array {
  const greatest = Math.max(...logits);
  const sum = logits.reduce((total, value) => total + Math.exp(value - greatest), 0);
  return logits.map((value) => value - greatest - Math.log(sum));
}
