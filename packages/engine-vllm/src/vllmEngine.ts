import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EngineError,
  ModelFront,
  type AdapterReference,
  type CallOptions,
  type ChatPrompt,
  type EncodeOptions,
  type EngineExit,
  type EngineLogger,
  type EngineStart,
  type GenerateRequest,
  type GenerateResult,
  type ModelDescription,
  type ResumeOptions,
  type ScoreRequest,
  type SequenceScore,
  type ServingEngine,
  type TokenSequence,
  type TrainingHost,
  type TrainingOptions,
  type TrainingSession,
} from '@engraft/engine';
import { AdapterShelf } from './adapters/adapterShelf.js';
import { completionOf, scoringOf, type Completion } from './completions/completionBody.js';
import type { Answered } from './completions/readReceipt.js';
import { scoreOf } from './completions/scores.js';
import { identityOf } from './replicas/baseLosses.js';
import { inOrderOf } from './replicas/rendezvous.js';
import { Replica, type ReplicaLimits } from './replicas/replica.js';

export interface VllmEngineOptions {
  /** The checkpoint that the servers have, too. Its small files are read here. */
  readonly modelDir: string;
  /** Addresses of vLLM servers, at least one. Each is one process (`--api-server-count 1`). */
  readonly urls: readonly string[];
  /** A folder that every server sees under the same path. Adapters are copied there. */
  readonly adapterFolder: string;
  /** The engine that trains, and computes by what the model is known. It is closed with this one. */
  readonly trainer: TrainingHost;
  /** Train in its place, and are closed with this engine, too. By default none. */
  readonly trainers?: TrainingHost;
  readonly logger?: EngineLogger;
  readonly limits?: Partial<ReplicaLimits>;
}

const defaultLimits: ReplicaLimits = {
  connectMs: 10_000,
  response_ms: 600_000,
  maxResponseBytes: 2 ** 26,
  healthMs: 2_000,
  healthAnswerMs: 5_000,
  maxMissedHealths: 3,
  maxNames: 16,
};

/** Sequences of one call that are scored at once. */
const maxScoresAtOnce = 8;
const sweepMs = 600_000;
/** Longer than any request takes. */
const idleMs = 3_600_000;

/**
 * Opens an engine over vLLM servers. It is not responsive while none of them is ready.
 * @throws EngineError `checkpoint_invalid` about the model's folder, or if a server answers and is not what it should
 *   be; as `openTraining`, which computes by what the model is known.
 */
export async function openVllmEngine(options: VllmEngineOptions): Promise<ServingEngine> {
  const front = await ModelFront.open(options.modelDir);
  try {
    const identity = await identityOf(front, options.trainer, options.adapterFolder);
    const shelf = new AdapterShelf(options.adapterFolder, front);
    const limits = { ...defaultLimits, ...options.limits };
    const { logger } = options;
    const shared = { shelf, identity, limits, ...(logger === undefined ? {} : { logger }) };
    const replicas = options.urls.map((url) => new Replica({ url, ...shared }));
    await Promise.all(replicas.map((replica) => replica.start()));
    const engine = new VllmEngine(front, shelf, replicas, options);
    const wrong = replicas.find(({ trouble }) => trouble?.kind === 'unfit');
    if (wrong === undefined) return engine;
    await engine.close();
    throw new EngineError('checkpoint_invalid', `the vLLM server ${wrong.url}: ${wrong.trouble?.reason ?? ''}`);
  } catch (error) {
    await options.trainers?.close();
    await options.trainer.close();
    await front.close();
    throw error;
  }
}

/** See `openVllmEngine`. */
class VllmEngine implements ServingEngine {
  private readonly closing = new AbortController();
  private readonly sweeping: Promise<void>;

  constructor(
    private readonly front: ModelFront,
    private readonly shelf: AdapterShelf,
    private readonly replicas: readonly Replica[],
    private readonly options: VllmEngineOptions,
  ) {
    this.sweeping = this.sweepAgainAndAgain();
  }

  get responsive(): boolean {
    return this.replicas.some(({ isUp }) => isUp);
  }

  get trouble(): string | null {
    if (this.responsive) return null;
    const told = this.replicas.map(({ url, trouble }) => `${url}: ${trouble?.reason ?? 'ready'}`);
    return `no vLLM server is ready (${told.join('; ')})`;
  }

  onExit(listener: (exit: EngineExit) => void): () => void {
    return this.options.trainer.onExit(listener);
  }

  onStart(listener: (start: EngineStart) => void): () => void {
    return this.options.trainer.onStart(listener);
  }

  describe(): Promise<ModelDescription> {
    return this.front.describe();
  }

  /** vLLM drops what it needs the room of. */
  forgetPrefixes(): Promise<void> {
    return Promise.resolve();
  }

  countTokens(prompt: ChatPrompt): Promise<number> {
    return this.front.countTokens(prompt);
  }

  encode(prompt: ChatPrompt, completion: string, options?: EncodeOptions): Promise<TokenSequence> {
    return this.front.encode(prompt, completion, options);
  }

  async generate(request: GenerateRequest, options: CallOptions = {}): Promise<GenerateResult> {
    const prepared = await this.front.prepare(request);
    const forced = prepared.forced.slice(0, prepared.maxOutputTokens);
    const promptTokens = prepared.prompt.length;
    const wantsLogprob = request.wantsLogprob === true;
    if (forced.length === prepared.maxOutputTokens) {
      const logprobs = wantsLogprob ? forced.map(() => 0) : null;
      return this.front.compose(request, promptTokens, { tokens: forced, ended: 'length', reusedTokens: 0, logprobs });
    }
    const answer = await this.ask(completionOf(request, { ...prepared, forced }), request.adapter, options);
    const banned = new Set(prepared.banned);
    if (answer.tokens.some((id) => banned.has(id))) {
      throw new EngineError('internal', 'a vLLM server has drawn a token that was not to be drawn');
    }
    return this.front.compose(request, promptTokens, {
      tokens: [...forced, ...answer.tokens],
      ended: answer.ended,
      reusedTokens: Math.min(answer.cachedTokens, promptTokens),
      logprobs: answer.logprobs === null ? null : [...forced.map(() => 0), ...answer.logprobs],
    });
  }

  /** A sequence may have one token less than the context, since vLLM writes one. */
  async score(
    { sequences, adapter, topK }: ScoreRequest,
    options: CallOptions = {},
  ): Promise<readonly SequenceScore[]> {
    const { contextLength, vocabularySize } = await this.front.describe();
    for (const [index, sequence] of sequences.entries()) checkSequence(sequence, index, contextLength, vocabularySize);
    const failed = new AbortController();
    const signal = AbortSignal.any([failed.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const scores: SequenceScore[] = [];
    const waiting = sequences.entries();
    const scoreNext = async (): Promise<void> => {
      for (const [index, sequence] of waiting) {
        const { promptTokens } = await this.ask(scoringOf(sequence, topK), adapter, { signal });
        const score = scoreOf(sequence, promptTokens ?? [], topK);
        if (score === null) throw new EngineError('receipt_missing', 'a vLLM server left out probabilities');
        scores[index] = score;
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(maxScoresAtOnce, sequences.length) }, scoreNext));
    } catch (error) {
      failed.abort();
      throw error;
    }
    return scores;
  }

  openTraining(options: TrainingOptions | ResumeOptions): Promise<TrainingSession> {
    return (this.options.trainers ?? this.options.trainer).openTraining(options);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.replicas.map((replica) => replica.close()));
    await this.sweeping;
    await this.options.trainers?.close();
    await this.options.trainer.close();
    await this.front.close();
  }

  /**
   * Asks one replica, and another only if the first has executed nothing.
   * @throws EngineError `not_running` if none can be asked.
   */
  private async ask(
    completion: Completion,
    adapter: AdapterReference | null,
    { signal }: CallOptions,
  ): Promise<Answered> {
    const cancel = AbortSignal.any([this.closing.signal, ...(signal === undefined ? [] : [signal])]);
    const reasons: string[] = [];
    for (const replica of this.inOrder(adapter)) {
      if (cancel.aborted) throw new EngineError('cancelled', 'the call was cancelled');
      if (!replica.isUp) continue;
      const outcome = await replica.complete(completion, adapter, cancel);
      if (outcome.kind === 'answered') return outcome;
      reasons.push(outcome.reason);
    }
    throw new EngineError(
      'not_running',
      reasons.length > 0 ? reasons.join('; ') : (this.trouble ?? 'no server is ready'),
    );
  }

  /** An adapter has its own replica, so that few have it; base goes to where the least is under way. */
  private inOrder(adapter: AdapterReference | null): readonly Replica[] {
    const byKey = inOrderOf(adapter?.contentHash ?? randomUUID(), this.replicas, ({ url }) => url);
    return adapter === null ? byKey.sort((a, b) => a.underWay - b.underWay) : byKey;
  }

  private async sweepAgainAndAgain(): Promise<void> {
    const { signal } = this.closing;
    for (;;) {
      if (await sleep(sweepMs, false, { signal, ref: false }).catch(() => true)) return;
      const listed = await Promise.all(this.replicas.map((replica) => replica.listNames()));
      // One that cannot be asked may need anything.
      if (listed.some((names) => names === null)) continue;
      const all = new Set(listed.flatMap((names) => names ?? []));
      await this.shelf.sweep(all, idleMs).catch((error: unknown) => {
        const folder = path.resolve(this.options.adapterFolder);
        this.options.logger?.warn({ err: error, folder }, 'adapters that no server needs could not be removed');
      });
    }
  }
}

function checkSequence(
  { tokens, targetStart }: TokenSequence,
  index: number,
  contextLength: number,
  vocabularySize: number,
): void {
  const name = `sequences[${index}]`;
  if (tokens.length >= contextLength) {
    const message = `${name} has ${tokens.length} tokens, and a vLLM server scores at most ${contextLength - 1}`;
    throw new EngineError('context_length_exceeded', message);
  }
  if (tokens.some((token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize)) {
    throw new EngineError('invalid_request', `${name}.tokens must be whole numbers below ${vocabularySize}`);
  }
  if (!Number.isInteger(targetStart) || targetStart < 1 || targetStart > tokens.length) {
    throw new EngineError('invalid_request', `${name}.targetStart must be from 1 to the number of tokens`);
  }
}
