import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { EngineError } from '../engine.js';
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
    const feeds = {
      ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, tokens.length]),
      last: new Tensor('int64', BigInt64Array.of(BigInt(tokens.length - 1)), [1]),
    };
    cache.reserve(cachedTokens + tokens.length, 1);
    const { logits, state } = await this.run(cache, [cachedTokens], feeds, [adapter]);
    if (!cache.write(0, cachedTokens, state, 0, 1)) throw notFinite();
    return logits;
  }

  /**
   * Appends one token to each of the sequences in the first slots of `cache`, which has slots for the minimum of rows.
   * @returns logits `[vocabularySize]` for each sequence.
   */
  async decode(cache: KvCache, sequences: readonly DecodeRow[]): Promise<readonly Float32Array[]> {
    const rows = [...sequences];
    while (rows.length < this.minRows) rows.push({ token: 0, cachedTokens: 0, adapter: null });
    const count = rows.length;
    const lengths = rows.map((row) => row.cachedTokens);
    const feeds = {
      ids: new Tensor(
        'int64',
        BigInt64Array.from(rows, (row) => BigInt(row.token)),
        [count, 1],
      ),
      last: new Tensor(
        'int64',
        BigInt64Array.from(rows, (_, index) => BigInt(index)),
        [count],
      ),
    };
    const adapters = rows.map((row) => row.adapter);
    cache.reserve(Math.max(...lengths) + 1, sequences.length);
    const { logits, state } = await this.run(cache, lengths, feeds, adapters);
    const width = this.model.config.vocabularySize;
    return sequences.map(({ cachedTokens }, row) => {
      if (!cache.write(row, cachedTokens, state, row, count)) throw notFinite();
      return logits.subarray(row * width, (row + 1) * width);
    });
  }

  async close(): Promise<void> {
    const sessions = [...this.sessions.values()];
    this.sessions.clear();
    for (const session of sessions) await session.release();
  }

  private async run(
    cache: KvCache,
    pastLengths: readonly number[],
    inputs: Feeds,
    adapters: readonly (LoadedAdapter | null)[],
  ): Promise<{ logits: Float32Array; state: Float32Array }> {
    const adapted = adapters.some((adapter) => adapter !== null);
    const session = await this.session(adapted);
    const pastLength = new Tensor('int64', BigInt64Array.from(pastLengths, BigInt), [pastLengths.length]);
    const feeds = {
      ...this.model.weights,
      ...cache.view(adapters.length),
      ...(adapted ? this.adapterFeeds(adapters) : {}),
      ...inputs,
      'past.length': pastLength,
    };
    const results = await session.run(feeds, ['logits', 'state']);
    return { logits: floats(results['logits']), state: floats(results['state']) };
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

function floats(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new EngineError('internal', 'the inference graph gave no float32 output');
}

function notFinite(): EngineError {
  return new EngineError('internal', 'the model computed a number that is not finite');
}
