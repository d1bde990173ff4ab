import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { buildInferenceGraph } from '../model/inferenceGraph.js';
import { quantizedBytes } from '../model/quantizedWeights.js';
import type { QuantizedWeights } from '../model/servingWeights.js';
import type { SharedWeights } from '../model/sharedWeights.js';
import { weightBytes } from '../model/weights.js';
import type { Session } from '../onnx/session.js';
import { SessionCache } from '../onnx/sessionCache.js';
import { generationThreads } from './generationThreads.js';
import type { LoadedAdapter } from '../adapters/loadedAdapter.js';
import { BatchAdapters, type StackBudget } from '../adapters/batchAdapters.js';
import type { CacheView, KvCache } from '../cache/kvCache.js';
import { rowsAreIndependent } from './rowIndependence.js';
import { createServingSession } from './servingSession.js';
import { LogitsBuffer } from './logitsBuffer.js';
import { StepFeeds, type StepRow } from './stepFeeds.js';

/** A loaded model, shared by the sessions of generation and scoring. */
export interface LoadedModel {
  readonly config: DecoderConfig;
  readonly weights: SharedWeights;
  /** The matrices of generation, unless they are float32. */
  readonly quantized?: QuantizedWeights | undefined;
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
}

/** The next token of one running sequence. */
export interface DecodeRow {
  readonly token: number;
  /** The number of tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
  readonly adapter: LoadedAdapter | null;
}

/**
 * From this size of the matrices on, rows without an adapter also use the graph with adapters. A graph of their own
 * would put the matrices into memory twice. The larger the model, the less time the shared graph costs: 2 % more for
 * eight rows at width 896.
 */
const defaultMinSingleGraphBytes = 256 * 2 ** 20;

/** Runs the inference graph over a cache: a prompt into one slot, single tokens for many slots at once. */
export class ModelRunner {
  private readonly sessions = new SessionCache<boolean>();
  private readonly rowAdapters: BatchAdapters;
  private readonly stepFeeds = new StepFeeds();
  private readonly logits: LogitsBuffer;
  private readonly hasSingleGraph: boolean;

  constructor(
    private readonly model: LoadedModel,
    budget?: StackBudget,
    minSingleGraphBytes = defaultMinSingleGraphBytes,
  ) {
    const { config, quantized } = model;
    const bytes = quantized === undefined ? weightBytes(config) : quantizedBytes(config, quantized.format);
    this.hasSingleGraph = bytes >= minSingleGraphBytes;
    this.rowAdapters = new BatchAdapters(config, budget);
    this.logits = new LogitsBuffer(config.vocabularySize);
  }

  /** See `BatchAdapters`. */
  admits(adapters: readonly (LoadedAdapter | null)[]): boolean {
    return this.rowAdapters.admits(adapters);
  }

  /**
   * Appends `tokens` to the sequence in the first slot of `cache`, which holds `cachedTokens` tokens and has capacity
   * for more.
   * @returns logits `[vocabularySize]` of the next token, valid until the next run.
   */
  async append(
    cache: KvCache,
    tokens: readonly number[],
    cachedTokens: number,
    adapter: LoadedAdapter | null,
  ): Promise<Float32Array> {
    const logits = await this.run(cache.view(1), [{ tokens, cachedTokens }], [adapter]);
    if (!cache.isFinite(0, cachedTokens, tokens.length)) throw notFinite();
    return logits;
  }

  /**
   * Appends one token to each sequence in the first slots of `cache`, which has capacity for it.
   * @returns logits `[vocabularySize]` for each sequence, valid until the next run. A sequence with a number that is
   *   not finite gets only NaN.
   */
  async decode(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    const count = sequences.length;
    const logits =
      count > 1 && !rowsAreIndependent(this.model.quantized?.format)
        ? await this.decodeOneByOne(cache, sequences)
        : await this.decodeTogether(cache, sequences);
    return sequences.map(({ cachedTokens }, slot) => {
      const ofRow = logits[slot] ?? new Float32Array();
      return cache.isFinite(slot, cachedTokens, 1) ? ofRow : ofRow.fill(NaN);
    });
  }

  private async decodeTogether(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    const logits = await this.run(cache.view(sequences.length), sequences.map(stepRow), sequences.map(adapterOf));
    const width = this.model.config.vocabularySize;
    return sequences.map((_, row) => logits.subarray(row * width, (row + 1) * width));
  }

  private async decodeOneByOne(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    const logits: Float32Array[] = [];
    for (const [slot, row] of sequences.entries()) {
      const ofRow = await this.run(cache.viewOf(slot), [stepRow(row)], [row.adapter]);
      logits.push(Float32Array.from(ofRow));
    }
    return logits;
  }

  close(): Promise<void> {
    return this.sessions.close();
  }

  /** Logits `[rows, vocabularySize]`, valid until the next run. */
  private async run(
    { past, present }: CacheView,
    rows: readonly StepRow[],
    adapters: readonly (LoadedAdapter | null)[],
  ): Promise<Float32Array> {
    const adapted = this.hasSingleGraph || adapters.some((adapter) => adapter !== null);
    const session = await this.session(adapted);
    const adapterFeeds = adapted ? [this.rowAdapters.feeds(adapters)] : [];
    const { numbers, tensors } = this.logits.forRows(rows.length);
    await session.run(
      [this.model.weights.tables, past, ...adapterFeeds, this.stepFeeds.forRows(rows)],
      [present, tensors],
    );
    return numbers;
  }

  private session(adapters: boolean): Promise<Session> {
    return this.sessions.get(adapters, () => {
      const { config, weights, quantized } = this.model;
      const threads = generationThreads(config, this.model.threads);
      const graph = buildInferenceGraph(config, { adapters, format: quantized?.format ?? 'f32' });
      return createServingSession(graph, { reader: weights.reader, quantized }, threads);
    });
  }
}

function stepRow({ token, cachedTokens }: DecodeRow): StepRow {
  return { tokens: [token], cachedTokens };
}

function adapterOf({ adapter }: DecodeRow): LoadedAdapter | null {
  return adapter;
}

function notFinite(): EngineError {
  return new EngineError('internal', 'the model computed a number that is not finite');
}
