import { setMaxListeners } from 'node:events';
import {
  EngineError,
  type AdapterReference,
  type Engine,
  type GenerateRequest,
  type GenerateResult,
  type SequenceScore,
  type TokenSequence,
} from '@engraft/engine';
import { noUsage, type Meter } from './meter.js';
import type { RemoteCallJournal } from './remoteModel.js';
import type { LearningUsage } from '../types.js';

/** Calls under way at once; the engine decodes them together. */
const concurrency = 16;
/** Sequences that one scoring call takes; the engine bounds its own memory. */
export const scoresPerCall = 8;

/** A call before it is made, which may be refused for want of money. */
export interface PlannedCall<Result> {
  /** Held while it runs; it never uses more. */
  readonly worst: LearningUsage;
  /** Requests that the call answers. */
  readonly requestCount: number;
  readonly run: () => Promise<{ result: Result; usage: LearningUsage }>;
}

export interface ScoreCall {
  readonly sequence: TokenSequence;
  readonly adapter: AdapterReference | null;
  readonly topK: number;
}

/**
 * The engine's calls as learning makes them: metered, a bounded number at once, cancellable, repeated when the engine's
 * process died.
 */
export class MeteredCalls {
  constructor(
    readonly engine: Engine,
    readonly meter: Meter,
    readonly signal?: AbortSignal,
    readonly onCall: (requestCount: number) => void = () => undefined,
    /** Given to the engine with every generation, so that prompts that begin with the same passage are read once. */
    readonly isolationKey?: string,
    /** Keeps the job's calls to a model elsewhere. */
    readonly remoteCalls?: RemoteCallJournal,
  ) {}

  /**
   * Results in the order of the requests; `null` for those that no longer fit under `share` of the cap.
   * The affordable ones are always the first of the list.
   */
  async generate(requests: readonly GenerateRequest[], share: number): Promise<(GenerateResult | null)[]> {
    const shared = this.isolationKey === undefined ? {} : { isolationKey: this.isolationKey };
    const calls = await mapConcurrently(requests, async (request): Promise<PlannedCall<GenerateResult>> => {
      const inputTokens = await this.engine.countTokens(request.prompt);
      return {
        worst: { ...noUsage, input_tokens: inputTokens, output_tokens: request.maxOutputTokens },
        requestCount: 1,
        run: async () => {
          const result = await this.engine.generate({ ...request, ...shared }, this.#options());
          return { result, usage: usageOf(result) };
        },
      };
    });
    return this.runAffordable(calls, share);
  }

  /**
   * As `generate`, for scoring; every token of a sequence counts as input. Sequences go to the engine
   * `scoresPerCall` at a time, where one run of the model takes several; a call is affordable as a whole or not.
   */
  async score(requests: readonly ScoreCall[], share: number): Promise<(SequenceScore | null)[]> {
    const batches = scoreBatches(requests);
    const calls = batches.map(({ sequences, adapter, topK }): PlannedCall<readonly SequenceScore[]> => {
      const usage = { ...noUsage, input_tokens: sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) };
      return {
        worst: usage,
        requestCount: sequences.length,
        run: async () => {
          const result = await this.engine.score({ sequences, adapter, topK }, this.#options());
          if (result.length !== sequences.length) throw new EngineError('internal', 'score lost a sequence');
          return { result, usage };
        },
      };
    });
    const results = await this.runAffordable(calls, share);
    const scores: (SequenceScore | null)[] = requests.map(() => null);
    batches.forEach(({ indices }, batch) =>
      indices.forEach((index, place) => (scores[index] = results[batch]?.[place] ?? null)),
    );
    return scores;
  }

  /**
   * Holds worst cases in the list's order before anything runs, and goes round again with what the real usage leaves.
   * So which calls are made depends on usage, never on which call happens to end first.
   */
  async runAffordable<Result>(calls: readonly PlannedCall<Result>[], share: number): Promise<(Result | null)[]> {
    const results: (Result | null)[] = calls.map(() => null);
    let next = 0;
    while (next < calls.length) {
      const first = next;
      while (next < calls.length && this.#hold(calls[next], share)) next++;
      if (next === first) break;
      const wave = calls.slice(first, next);
      const settled = await mapConcurrently(wave, (call) => this.#run(call));
      settled.forEach((result, index) => (results[first + index] = result));
    }
    return results;
  }

  #hold(call: PlannedCall<unknown> | undefined, share: number): boolean {
    return call !== undefined && this.meter.tryHold(call.worst, share);
  }

  async #run<Result>(call: PlannedCall<Result>): Promise<Result> {
    let usage: LearningUsage | null = null;
    try {
      const done = await retryingLostWork(call.run);
      usage = done.usage;
      return done.result;
    } finally {
      this.meter.settle(call.worst, usage);
      this.onCall(call.requestCount);
    }
  }

  #options(): { signal?: AbortSignal } {
    throwIfCancelled(this.signal);
    return this.signal === undefined ? {} : { signal: this.signal };
  }
}

interface ScoreBatch {
  readonly adapter: AdapterReference | null;
  readonly topK: number;
  readonly sequences: TokenSequence[];
  /** Where each sequence stands among the requests. */
  readonly indices: number[];
}

/** Requests that one call can answer, together; in the order of the first of each. */
function scoreBatches(requests: readonly ScoreCall[]): ScoreBatch[] {
  const batches: ScoreBatch[] = [];
  const open = new Map<string, ScoreBatch>();
  for (const [index, { sequence, adapter, topK }] of requests.entries()) {
    const key = `${adapter?.contentHash ?? ''} ${topK}`;
    let batch = open.get(key);
    if (batch === undefined || batch.sequences.length === scoresPerCall) {
      batch = { adapter, topK, sequences: [], indices: [] };
      open.set(key, batch);
      batches.push(batch);
    }
    batch.sequences.push(sequence);
    batch.indices.push(index);
  }
  return batches;
}

/**
 * A signal of our own, that aborts with any of these, as every call under way listens to it, and Node.js warns of more
 * than ten listeners.
 */
export function forManyListeners(...signals: readonly AbortSignal[]): AbortSignal {
  const own = AbortSignal.any([...signals]);
  setMaxListeners(0, own);
  return own;
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new EngineError('cancelled', 'learning was cancelled', { cause: signal.reason });
}

/**
 * What failed for somebody else's fault, or with the engine's process, is tried again; twice, since a call can be the
 * cause.
 */
export async function retryingLostWork<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 3 || !(error instanceof EngineError) || !error.repeatable) throw error;
    }
  }
}

function usageOf(result: GenerateResult): LearningUsage {
  return {
    input_tokens: result.usage.inputTokens,
    output_tokens: result.usage.outputTokens,
    cached_input_tokens: result.usage.cachedInputTokens,
    training_tokens: 0,
  };
}

/** `Promise.all` over `work`, with at most `concurrency` under way. After a failure no new work begins. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const index = next++;
      const item = items[index];
      if (item === undefined) continue;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker);
  // Settled, not only awaited: when this rejects, nothing of it is still running.
  for (const outcome of await Promise.allSettled(workers)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
  return results;
}
