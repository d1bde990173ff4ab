import { EngineError } from '../engine.js';
import type { StackBudget } from './adapterFeeds.js';
import { finalLength, forcedTokens, longestLength, type Generation, type GenerationJob } from './generationJob.js';
import { InferenceRunner, type LoadedModel } from './inferenceRunner.js';
import { defaultLimits, kvShares, roomBytesPerToken, type KvLimits, type KvShares } from './kvBudget.js';
import { KvCache, NOTHING_KEPT, type Kept } from './kvCache.js';
import { PREFILL_CHUNK, PrefixCache, prefixKeysOf } from './prefixCache.js';
import { logprobOf, sample } from './sampler.js';
import { adapterOf, cancel, end, failure, type Sequence } from './sequence.js';
import { WaitingLine } from './waitingLine.js';

/** Prompts that may be read one after the other, where as many of them wait as run. */
const READS_PER_STEP = 4;

/**
 * Continuous batching: running sequences advance together, one token a step, each with its own adapter; they join and
 * leave between steps. A prompt is read alone, in chunks, into a cache of its own, and joins when it is complete.
 * Reading and decoding take turns, so that a long prompt delays the others by a chunk at a time. In a crowd several
 * prompts are read before the next step, as a step for many rows costs little more than for few. Jobs begin in the
 * order of their arrival, but for one whose adapter is slow to load, each when its keys and values, at their greatest
 * length, and the adapters fit in memory next to the others'. Adapters are loaded in that order, too: the next one's
 * always, those of others as long as all that are held fit in memory.
 *
 * Sequence i of `running` occupies slot i of the cache.
 */
export class Generator {
  private readonly waiting: WaitingLine;
  private reading: Sequence | undefined;
  private readonly running: Sequence[] = [];
  private readonly cache: KvCache;
  private readonly staging: KvCache;
  private readonly prefixes: PrefixCache;
  private readonly runner: InferenceRunner;
  private loop: Promise<void> | undefined;
  /**
   * Since the last step of those that run; a chunk that leaves its prompt incomplete counts as all that may be read.
   */
  private promptsRead = 0;
  /** Whether as many waited as ran when the first of these was to be read. */
  private isCrowd = false;
  private closed = false;

  constructor(
    private readonly model: LoadedModel,
    /** Sequences decoded together, at least 1. */
    private readonly maxBatch: number,
    private readonly limits: KvLimits = defaultLimits(model.config),
    adapterBudget?: StackBudget,
  ) {
    this.cache = new KvCache(model.config);
    this.staging = new KvCache(model.config);
    this.prefixes = new PrefixCache(limits.prefixBytes);
    this.runner = new InferenceRunner(model, adapterBudget);
    const begun = (): Sequence[] => [...this.running, ...(this.reading === undefined ? [] : [this.reading])];
    this.waiting = new WaitingLine(begun, adapterBudget?.maxBytes ?? Infinity);
  }

  /** Bytes allocated for the keys and values of the sequences in the works; never above the limit. */
  get cacheBytes(): number {
    return (this.cache.tokens + this.staging.tokens) * roomBytesPerToken(this.model.config);
  }

  /**
   * Rejects with `cancelled` at the next step after the signal aborts, or at once while it waits; at once with
   * `memory_exceeded`.
   */
  async generate(job: GenerationJob): Promise<Generation> {
    if (this.closed) throw new EngineError('cancelled', 'the engine is closed');
    if (this.shares(job) === undefined) {
      const message = `${finalLength(job)} tokens of keys and values would pass the bound of ${this.limits.cacheBytes} bytes`;
      throw new EngineError('memory_exceeded', message);
    }
    const output = forcedTokens(job);
    const begun = {
      adapter: job.adapter === null ? null : undefined,
      output,
      reusedTokens: 0,
      cachedTokens: 0,
      logprob: 0,
    };
    const drop = (): void => this.dropWaiting();
    // Each call gets its own signal: the caller may give one signal to many calls, and would be warned of so many
    // listeners.
    const signal = job.signal && AbortSignal.any([job.signal]);
    signal?.addEventListener('abort', drop);
    try {
      return await new Promise((resolve, reject) => {
        this.waiting.add({ job, ...begun, prefixKeys: prefixKeysOf(job), resolve, reject });
        this.loop ??= this.runLoop();
      });
    } finally {
      signal?.removeEventListener('abort', drop);
      job.adapter?.release?.();
    }
  }

  /** Cancels everything in the works. */
  async close(): Promise<void> {
    this.closed = true;
    this.dropWaiting();
    await this.loop;
    await this.runner.close();
  }

  private async runLoop(): Promise<void> {
    // Requests of the same turn of the event loop start together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0 || this.reading !== undefined || this.running.length > 0) {
      try {
        await this.step();
      } catch (error) {
        this.failRunning(new EngineError('batch_lost', 'the model failed while generating', { cause: error }));
      }
    }
    this.loop = undefined;
  }

  /** One turn: schedule, run the model, take in what it said. */
  private async step(): Promise<void> {
    this.dropCancelled();
    this.waiting.loadNext();
    if (this.reading === undefined && this.running.length < this.maxBatch) {
      // Loading is part of reading a prompt, where it is all that the next in line waits for.
      if (this.promptsRead === 0 || this.running.length === 0) await this.waiting.giveTurnToLoading();
      this.admit();
    }
    if (this.reading !== undefined && (this.readsNext() || this.running.length === 0)) {
      const isRead = await this.readAlone(this.reading);
      this.promptsRead = isRead ? this.promptsRead + 1 : READS_PER_STEP;
      return;
    }
    this.promptsRead = 0;
    if (this.running.length > 0) await this.decodeRunning();
    else if (this.waiting.length > 0) await this.waiting.change();
  }

  /** Whether those that run have had their step, or wait for the prompt that is being read. */
  private readsNext(): boolean {
    if (this.promptsRead > 0) return this.isCrowd && this.promptsRead < READS_PER_STEP;
    this.isCrowd = this.waiting.length + 1 >= this.running.length;
    return true;
  }

  /**
   * The next in line begins if there is room. Nobody overtakes it once it is loaded: what is large must not wait for
   * ever.
   */
  private admit(): void {
    const { next } = this.waiting;
    if (next?.adapter === undefined) return;
    const running = this.running.map(({ job }) => job);
    const shares = this.shares(next.job, running);
    if (shares === undefined || !this.runner.admits([...this.running, next].map(adapterOf))) return;
    // What earlier batches of other shapes have left beyond the shares is given back before anything grows.
    this.cache.limit(shares.runningTokens, longestLength(running), this.kept());
    this.staging.limit(shares.promptTokens, 0, NOTHING_KEPT);
    this.waiting.take(next);
    this.reading = next;
  }

  /** What a job that is still to be read and those that run may take together. */
  private shares(next: GenerationJob, running: readonly GenerationJob[] = []): KvShares | undefined {
    const promptTokens = next.prompt.length + forcedTokens(next).length;
    return kvShares(this.model.config, this.limits.cacheBytes, [...running, next].map(finalLength), promptTokens);
  }

  /**
   * Nobody else takes part in reading a prompt, so what goes wrong there ends nobody else. Returns whether nothing of
   * the prompt is left to be read.
   */
  private async readAlone(sequence: Sequence): Promise<boolean> {
    let outcome: 'incomplete' | 'ended' | 'goes on' = 'ended';
    try {
      outcome = await this.readChunk(sequence);
    } catch (error) {
      sequence.reject(failure(error));
    }
    if (outcome === 'incomplete') return false;
    this.reading = undefined;
    if (outcome === 'goes on') this.join(sequence);
    return true;
  }

  private async readChunk(sequence: Sequence): Promise<'incomplete' | 'ended' | 'goes on'> {
    const { job, output } = sequence;
    if (output.length >= job.maxOutputTokens) {
      end(sequence, 'length');
      return 'ended';
    }
    const given = [...job.prompt, ...output];
    if (sequence.cachedTokens === 0) {
      this.staging.reserve(given.length, 1, NOTHING_KEPT);
      this.restore(sequence);
    }
    const { cachedTokens } = sequence;
    const chunk = given.slice(cachedTokens, cachedTokens + PREFILL_CHUNK);
    const logits = await this.runner.append(this.staging, chunk, cachedTokens, adapterOf(sequence));
    const keys = sequence.prefixKeys.slice(0, cachedTokens / PREFILL_CHUNK + 1);
    if (keys.length * PREFILL_CHUNK === cachedTokens + chunk.length) {
      this.prefixes.add(keys, this.staging.read(0, cachedTokens, chunk.length));
    }
    sequence.cachedTokens += chunk.length;
    if (sequence.cachedTokens < given.length) return 'incomplete';
    return this.takeToken(sequence, logits) ? 'ended' : 'goes on';
  }

  /** What goes wrong here ends all that run: without the memory for the newcomer, the cache has lost what it held. */
  private join(newcomer: Sequence): void {
    const slot = this.running.length;
    const kept = this.kept();
    this.running.push(newcomer);
    // All that it will ever need: what it does not come to use is never touched, and takes no memory on Linux.
    this.cache.reserve(longestLength(this.running.map(({ job }) => job)), slot + 1, kept);
    this.cache.copy(this.staging, 0, slot, newcomer.cachedTokens);
  }

  /** Puts the beginning of a prompt that is known into the cache. */
  private restore(sequence: Sequence): void {
    const states = this.prefixes.find(sequence.prefixKeys);
    for (const state of states) {
      this.staging.write(0, sequence.cachedTokens, state);
      sequence.cachedTokens += PREFILL_CHUNK;
    }
    sequence.reusedTokens = sequence.cachedTokens;
  }

  private async decodeRunning(): Promise<void> {
    const rows = this.running.map((sequence) => ({
      token: sequence.output.at(-1) ?? 0,
      cachedTokens: sequence.cachedTokens,
      adapter: adapterOf(sequence),
    }));
    const logits = await this.runner.decode(this.cache, rows);
    const finished = new Set<Sequence>();
    this.running.forEach((sequence, row) => {
      sequence.cachedTokens += 1;
      try {
        if (this.takeToken(sequence, logits[row] ?? new Float32Array())) finished.add(sequence);
      } catch (error) {
        // Its logits, its sampler or its test of completeness: the other rows have theirs.
        finished.add(sequence);
        sequence.reject(failure(error));
      }
    });
    this.leave(finished);
  }

  /** Samples the next token; returns whether the sequence has ended with it. */
  private takeToken(sequence: Sequence, logits: Float32Array): boolean {
    const { job, output } = sequence;
    const token = sample(logits, job, job.random);
    if (job.wantsLogprob === true) sequence.logprob += logprobOf(logits, token);
    output.push(token);
    if (job.stopTokens.has(token) || job.isComplete?.(output) === true) {
      end(sequence, 'stop');
      return true;
    }
    if (output.length >= job.maxOutputTokens) {
      end(sequence, 'length');
      return true;
    }
    return false;
  }

  /** Frees the slots of sequences that have ended; the last ones move into the gaps. */
  private leave(sequences: ReadonlySet<Sequence>): void {
    for (let slot = this.running.length - 1; slot >= 0; slot -= 1) {
      const sequence = this.running[slot];
      if (sequence === undefined || !sequences.has(sequence)) continue;
      const last = this.running.pop();
      if (last === undefined || last === sequence) continue;
      this.cache.copy(this.cache, this.running.length, slot, last.cachedTokens);
      this.running[slot] = last;
    }
  }

  /** How many slots and tokens of the cache the running sequences take. */
  private kept(): Kept {
    return { slots: this.running.length, tokens: Math.max(0, ...this.running.map((one) => one.cachedTokens)) };
  }

  private dropCancelled(): void {
    const cancelled = this.running.filter((sequence) => this.isCancelled(sequence));
    cancelled.forEach(cancel);
    this.leave(new Set(cancelled));
    if (this.reading !== undefined && this.isCancelled(this.reading)) {
      cancel(this.reading);
      this.reading = undefined;
    }
    this.dropWaiting();
  }

  private dropWaiting(): void {
    this.waiting.remove((sequence) => this.isCancelled(sequence)).forEach(cancel);
  }

  private isCancelled({ job }: Sequence): boolean {
    return this.closed || job.signal?.aborted === true;
  }

  /** Whose fault it was is not known when a run fails that several sequences share. Those that took no part go on. */
  private failRunning(error: EngineError): void {
    for (const sequence of this.running.splice(0)) sequence.reject(error);
  }
}
