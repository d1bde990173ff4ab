import { Tensor, type InferenceSession } from 'onnxruntime-node';
import type { DecoderConfig } from '../model/config.js';
import { buildInferenceGraph } from '../model/inferenceGraph.js';
import type { Feeds } from '../model/inputs.js';
import { PROJECTIONS, projectionShape } from '../model/weights.js';
import { createSession } from '../onnx/session.js';
import type { LoadedAdapter } from './adapterCache.js';
import { rowAdapterFeeds } from './adapterFeeds.js';
import type { KvCache } from './kvCache.js';

/** A loaded model, as the sessions of generation and scoring share it. */
export interface LoadedModel {
  readonly config: DecoderConfig;
  /** See `weightFeeds`. */
  readonly weights: Feeds;
  /** Threads inside one operator, at least 1. */
  readonly threads: number;
}

/** The next token of one running sequence. */
export interface DecodeRow {
  readonly token: number;
  /** Tokens of the sequence that are in the cache already. */
  readonly cachedTokens: number;
  readonly adapter: LoadedAdapter | null;
}

/** Multiplications for which ONNX Runtime's matrix kernels use one more thread (`MLAS_SGEMM_THREAD_COMPLEXITY`). */
const WORK_PER_THREAD = 65_536;

/**
 * How many rows to decode at least so that a row's result does not depend on how many others there are, to the last
 * bit. A single row runs through a kernel that adds in another order than that for several; and how a matrix is cut
 * among threads, with it the order, changes with the rows until there is work for all threads. A batch that never
 * changes its size is the same too, so `maxRows` suffices in any case.
 */
export function reproducibleRows({ config, threads }: LoadedModel, maxRows: number): number {
  const sizes = PROJECTIONS.map((projection) => {
    const [out, width] = projectionShape(config, projection);
    return out * width;
  });
  const busy = Math.ceil(((threads - 1) * WORK_PER_THREAD) / Math.min(...sizes));
  return Math.max(2, Math.min(busy, maxRows));
}

/** Runs the inference graph over a cache: a prompt into one slot, single tokens for many slots at once. */
export class InferenceRunner {
  private readonly sessions = new Map<boolean, InferenceSession>();
  private rowFeeds: { readonly rows: readonly (LoadedAdapter | null)[]; readonly feeds: Feeds } | undefined;

  constructor(
    private readonly model: LoadedModel,
    /** Rows that `decode` computes at least; its cache must have as many slots. */
    private readonly minRows: number,
  ) {}

  /**
   * Appends `tokens` to the sequence in the first slot of `cache`, which holds `cachedTokens` tokens.
   * @returns logits `[vocabularySize]` of what follows.
   */
  async append(
    cache: KvCache,
    tokens: readonly number[],
    cachedTokens: number,
    adapter: LoadedAdapter | null,
  ): Promise<Float32Array> {
    const length = tokens.length;
    const total = cachedTokens + length;
    const feeds = {
      ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, length]),
      seqlens: new Tensor('int32', Int32Array.of(total - 1), [1]),
      total: new Tensor('int32', Int32Array.of(total), []),
      last: new Tensor('int64', BigInt64Array.of(BigInt(length - 1)), [1]),
    };
    cache.reserve(total, 1);
    return this.run(cache, feeds, [adapter]);
  }

  /**
   * Appends one token to each of the sequences in the first slots of `cache`. Rows that make up the
   * minimum write into the slots after these.
   * @returns logits `[vocabularySize]` for each sequence.
   */
  async decode(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    const rows = [...sequences];
    while (rows.length < this.minRows) rows.push({ token: 0, cachedTokens: 0, adapter: null });
    const count = rows.length;
    const lengths = rows.map((row) => row.cachedTokens + 1);
    const feeds = {
      ids: new Tensor(
        'int64',
        BigInt64Array.from(rows, (row) => BigInt(row.token)),
        [count, 1],
      ),
      seqlens: new Tensor(
        'int32',
        Int32Array.from(lengths, (length) => length - 1),
        [count],
      ),
      total: new Tensor('int32', Int32Array.of(Math.max(...lengths)), []),
      last: new Tensor(
        'int64',
        BigInt64Array.from(rows, (_, index) => BigInt(index)),
        [count],
      ),
    };
    const adapters = rows.map((row) => row.adapter);
    cache.reserve(Math.max(...lengths), sequences.length);
    const logits = await this.run(cache, feeds, adapters);
    const width = this.model.config.vocabularySize;
    return sequences.map((_, index) => logits.subarray(index * width, (index + 1) * width));
  }

  async close(): Promise<void> {
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    for (const session of sessions) await session.release();
  }

  private async run(cache: KvCache, feeds: Feeds, adapters: readonly (LoadedAdapter | null)[]): Promise<Float32Array> {
    const adapted = adapters.some((adapter) => adapter !== null);
    const session = await this.session(adapted);
    const count = adapters.length;
    const { past, present } = cache.view(count);
    const logits = new Float32Array(count * this.model.config.vocabularySize);
    const fetches = {
      ...present,
      logits: new Tensor('float32', logits, [count, this.model.config.vocabularySize]),
    };
    const adapterFeeds = adapted ? this.adapterFeeds(adapters) : {};
    await session.run({ ...this.model.weights, ...past, ...adapterFeeds, ...feeds }, fetches);
    return logits;
  }

  /** The stacked matrices are kept while the same adapters sit in the same rows. */
  private adapterFeeds(rows: readonly (LoadedAdapter | null)[]): Feeds {
    const last = this.rowFeeds;
    if (last?.rows.length === rows.length && last.rows.every((adapter, row) => adapter === rows[row])) {
      return last.feeds;
    }
    const feeds = rowAdapterFeeds(this.model.config, rows);
    this.rowFeeds = { rows, feeds };
    return feeds;
  }

  private async session(adapters: boolean): Promise<InferenceSession> {
    let session = this.sessions.get(adapters);
    if (session === undefined) {
      const graph = buildInferenceGraph(this.model.config, { adapters });
      session = await createSession(graph, { threads: this.model.threads });
      this.sessions.set(adapters, session);
    }
    return session;
  }
}
