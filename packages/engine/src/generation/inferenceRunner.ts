import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { buildInferenceGraph } from '../model/inferenceGraph.js';
import type { Feeds } from '../model/inputs.js';
import type { QuantizedWeights } from '../model/servingWeights.js';
import type { SharedWeights } from '../model/sharedWeights.js';
import { SessionCache } from '../onnx/sessionCache.js';
import { generationThreads } from './generationThreads.js';
import type { LoadedAdapter } from './loadedAdapter.js';
import { RowAdapters, type StackBudget } from './adapterFeeds.js';
import type { KvCache } from './kvCache.js';
import { keepsRowsApart } from './rowKernels.js';
import { createServingSession } from './servingSession.js';
import { stepFeeds } from './stepFeeds.js';

/** A loaded model, as the sessions of generation and scoring share it. */
export interface LoadedModel {
  readonly config: DecoderConfig;
  readonly weights: SharedWeights;
  /** The matrices of generation, where these are not to be the float32 ones. */
  readonly quantized?: QuantizedWeights;
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
}

/** What a run of the graph gives, see `buildInferenceGraph`. */
interface RunResult {
  readonly logits: Float32Array;
  readonly state: Float32Array;
}

/** The next token of one running sequence. */
export interface DecodeRow {
  readonly token: number;
  /** Tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
  readonly adapter: LoadedAdapter | null;
}

/** Runs the inference graph over a cache: a prompt into one slot, single tokens for many slots at once. */
export class InferenceRunner {
  private readonly sessions = new SessionCache<boolean>();
  private readonly rowAdapters: RowAdapters;

  constructor(
    private readonly model: LoadedModel,
    budget?: StackBudget,
  ) {
    this.rowAdapters = new RowAdapters(model.config, budget);
  }

  /** See `RowAdapters`. */
  admits(adapters: readonly (LoadedAdapter | null)[]): boolean {
    return this.rowAdapters.admits(adapters);
  }

  /**
   * Appends `tokens` to the sequence in the first slot of `cache`, which holds `cachedTokens` tokens.
   * @returns logits `[vocabularySize]` of what follows, and the state that was appended, see `KvCache.write`.
   */
  async append(
    cache: KvCache,
    tokens: readonly number[],
    cachedTokens: number,
    adapter: LoadedAdapter | null,
  ): Promise<RunResult> {
    cache.reserve(cachedTokens + tokens.length, 1);
    const step = stepFeeds(this.model.config, [{ tokens, cachedTokens }], cache.tokensPerSlot);
    const result = await this.run(cache.view(1), step, [adapter]);
    if (!cache.write(0, cachedTokens, result.state, 0, 1)) throw notFinite();
    return result;
  }

  /**
   * Appends one token to each of the sequences in the first slots of `cache`.
   * @returns logits `[vocabularySize]` for each sequence; for one with a number that is not finite, NaN only.
   */
  async decode(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    if (sequences.length > 1 && !keepsRowsApart(this.model.quantized?.format)) {
      cache.reserve(Math.max(...sequences.map((row) => row.cachedTokens)) + 1, sequences.length);
      const logits: Float32Array[] = [];
      for (const [slot, row] of sequences.entries()) logits.push(await this.decodeAlone(cache, slot, row));
      return logits;
    }
    const count = sequences.length;
    cache.reserve(Math.max(...sequences.map((row) => row.cachedTokens)) + 1, count);
    const rows = sequences.map(({ token, cachedTokens }) => ({ tokens: [token], cachedTokens }));
    const step = stepFeeds(this.model.config, rows, cache.tokensPerSlot);
    const adapters = sequences.map((row) => row.adapter);
    const { logits, state } = await this.run(cache.view(count), step, adapters);
    const width = this.model.config.vocabularySize;
    return sequences.map(({ cachedTokens }, row) => {
      const ofRow = logits.subarray(row * width, (row + 1) * width);
      return cache.write(row, cachedTokens, state, row, count) ? ofRow : ofRow.fill(NaN);
    });
  }

  /** One row of `decode` in a run of its own. */
  private async decodeAlone(
    cache: KvCache,
    slot: number,
    { token, cachedTokens, adapter }: DecodeRow,
  ): Promise<Float32Array> {
    const step = stepFeeds(this.model.config, [{ tokens: [token], cachedTokens }], cache.tokensPerSlot);
    const { logits, state } = await this.run(cache.viewOf(slot), step, [adapter]);
    return cache.write(slot, cachedTokens, state, 0, 1) ? logits : logits.fill(NaN);
  }

  close(): Promise<void> {
    return this.sessions.close();
  }

  private async run(past: Feeds, step: Feeds, adapters: readonly (LoadedAdapter | null)[]): Promise<RunResult> {
    const adapted = adapters.some((adapter) => adapter !== null);
    const session = await this.session(adapted);
    const feeds = {
      ...this.model.weights.tables,
      ...past,
      ...(adapted ? this.rowAdapters.feeds(adapters) : {}),
      ...step,
    };
    const results = await session.run(feeds, ['logits', 'state']);
    return { logits: floats(results['logits']), state: floats(results['state']) };
  }

  private session(adapters: boolean): Promise<InferenceSession> {
    return this.sessions.get(adapters, () => {
      const { config, weights, quantized } = this.model;
      const threads = generationThreads(config, this.model.threads);
      const graph = buildInferenceGraph(config, { adapters, format: quantized?.format ?? 'f32' });
      return createServingSession(graph, { reader: weights.reader, quantized }, threads);
    });
  }
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new EngineError('internal', 'the inference graph gave no float32 output');
}

function notFinite(): EngineError {
  return new EngineError('internal', 'the model computed a number that is not finite');
}
