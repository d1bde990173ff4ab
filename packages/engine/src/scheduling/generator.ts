import type { AdapterSource } from '../adapters/adapterCache.js';
import { capacityBytesPerToken, defaultLimits, kvShares, type KvLimits, type KvShares } from '../cache/kvBudget.js';
import { KvCache, noContents, type CacheContents } from '../cache/kvCache.js';
import { chunkEnd, PrefixCache } from '../cache/prefixCache.js';
import type { EngineError } from '../engine.js';
import { engineClosed } from '../support/cancelling.js';
import { ModelRunner, type LoadedModel } from '../inference/modelRunner.js';
import { logprobOf, sample } from '../output/sampler.js';
import { AdmissionQueue } from './admissionQueue.js';
import { finalLength, forcedTokens, longestLength, type Generation, type GenerationJob } from './generationJob.js';
import { adapterOf, cancel, end, failure, newSequence, sharedFailure, tooLong, type Sequence } from './sequence.js';

/** The most prompts that are read one after the other when at least as many wait as run. */
const maxPromptsPerStep = 4;

/**
 * Continuous batching. Running sequences advance together, one token a step, each with its own adapter. They join and
 * leave between steps.
 *
 * A prompt is read alone, in chunks, into a cache of its own, and joins the batch when it is complete. Reading and
 * decoding take turns, so that a long prompt delays the others by one chunk at a time. When many wait, several prompts
 * are read before the next step, because a step for many rows costs little more than one for few.
 *
 * Jobs begin in the order of their arrival, except that nobody waits for an adapter that is slow to load. A job begins
 * when its keys and values, at their greatest length, and its adapter fit in memory beside the others'. Adapters are
 * loaded in the same order: that of the next job always, the others as long as all held adapters fit in memory.
 *
 * Sequence i of `running` occupies slot i of the cache.
 */
export class Generator {
  private readonly queue: AdmissionQueue;
  private reading: Sequence | undefined;
  private readonly running: Sequence[] = [];
  private readonly cache: KvCache;
  private readonly staging: KvCache;
  readonly prefixes: PrefixCache;
  private readonly runner: ModelRunner;
  private loop: Promise<void> | undefined;
  /**
   * Prompts read since the last step. A chunk that leaves its prompt incomplete counts as the most that are allowed.
   */
  private promptsRead = 0;
  /** Whether at least as many waited as ran when the first of these prompts was read. */
  private isCrowded = false;
  private closed = false;

  constructor(
    private readonly model: LoadedModel,
    private readonly adapters: AdapterSource,
    /** The most sequences that are decoded together, at least 1. */
    private readonly maxBatch: number,
    private readonly limits: KvLimits = defaultLimits(model.config),
  ) {
    this.cache = new KvCache(model.config);
    this.staging = new KvCache(model.config);
    this.prefixes = new PrefixCache(limits.maxPrefixBytes);
    this.runner = new ModelRunner(model, adapters);
    this.queue = new AdmissionQueue(adapters, () => [
      ...this.running,
      ...(this.reading === undefined ? [] : [this.reading]),
    ]);
  }

  /** Bytes allocated for the keys and values of all sequences that have begun. Never above the limit. */
  get cacheBytes(): number {
    return (this.cache.tokens + this.staging.tokens) * capacityBytesPerToken(this.model.config);
  }

  /**
   * Rejects with `cancelled` when the signal aborts: at once for a job that waits, at the next step for one that runs.
   * Rejects at once with `memory_exceeded`.
   */
  async generate(job: GenerationJob): Promise<Generation> {
    if (this.closed) throw engineClosed();
    if (this.shares(job) === undefined) throw tooLong(job, this.limits.maxCacheBytes);
    const drop = (): void => this.dropWaiting();
    // Each call gets a signal of its own. A caller may give one signal to many calls, and Node.js warns of many
    // listeners on one signal.
    const signal = job.signal && AbortSignal.any([job.signal]);
    signal?.addEventListener('abort', drop);
    const sequence = newSequence(job);
    try {
      this.queue.add(sequence);
      this.loop ??= this.runLoop();
      return await sequence.ended;
    } finally {
      signal?.removeEventListener('abort', drop);
      if (sequence.adapter) this.adapters.release(sequence.adapter);
    }
  }

  /** Cancels every job. */
  async close(): Promise<void> {
    this.closed = true;
    this.dropWaiting();
    await this.loop;
    await this.runner.close();
  }

  private async runLoop(): Promise<void> {
    // Requests that come in the same turn of the event loop start together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.queue.length > 0 || this.reading !== undefined || this.running.length > 0) {
      try {
        await this.step();
      } catch (error) {
        this.failRunning(sharedFailure(error));
      }
    }
    this.loop = undefined;
  }

  /** One turn: schedules, runs the model and takes its tokens. */
  private async step(): Promise<void> {
    this.dropCancelled();
    this.queue.startLoads();
    if (this.reading === undefined && this.running.length < this.maxBatch) {
      // Loading counts as part of reading a prompt when the next in the queue waits for nothing else.
      if (this.promptsRead === 0 || this.running.length === 0) await this.queue.waitForFirstLoad();
      this.admit();
    }
    if (this.reading !== undefined && (this.mayReadPrompt() || this.running.length === 0)) {
      const isRead = await this.readPrompt(this.reading);
      this.promptsRead = isRead ? this.promptsRead + 1 : maxPromptsPerStep;
      return;
    }
    this.promptsRead = 0;
    if (this.running.length > 0) await this.decodeRunning();
    else if (this.queue.length > 0) await this.queue.nextChange();
  }

  /** Whether a prompt is read next, rather than a step made. */
  private mayReadPrompt(): boolean {
    if (this.promptsRead > 0) return this.isCrowded && this.promptsRead < maxPromptsPerStep;
    this.isCrowded = this.queue.length + 1 >= this.running.length;
    return true;
  }

  /**
   * Lets the next in the queue begin if there is memory. Nobody overtakes it once it is loaded, or a large one could
   * wait for ever.
   */
  private admit(): void {
    const { next } = this.queue;
    if (next?.adapter === undefined) return;
    const running = this.running.map(({ job }) => job);
    const shares = this.shares(next.job, running);
    if (shares === undefined || !this.runner.admits([...this.running, next].map(adapterOf))) return;
    // Memory that earlier batches left beyond the shares is given back before anything grows.
    this.cache.limit(shares.maxRunningTokens, longestLength(running), this.batchContents());
    this.staging.limit(shares.maxPromptTokens, 0, noContents);
    this.queue.dequeue(next);
    this.reading = next;
  }

  /** Shares of the memory for the running jobs and `next`, whose prompt is still to be read. */
  private shares(next: GenerationJob, running: readonly GenerationJob[] = []): KvShares | undefined {
    const promptTokens = next.prompt.length + forcedTokens(next).length;
    return kvShares(this.model.config, this.limits.maxCacheBytes, [...running, next].map(finalLength), promptTokens);
  }

  /** Reads a chunk of a prompt. An error there ends this sequence only. Returns whether the prompt is read. */
  private async readPrompt(sequence: Sequence): Promise<boolean> {
    let outcome: 'incomplete' | 'ended' | 'goes on' = 'ended';
    try {
      outcome = await this.readChunk(sequence);
    } catch (error) {
      sequence.reject(failure(error));
    }
    if (outcome === 'incomplete') return false;
    this.reading = undefined;
    if (outcome === 'goes on') this.joinBatch(sequence);
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
      this.staging.reserve(given.length, 1, noContents);
      this.restorePrefix(sequence);
    }
    const { cachedTokens } = sequence;
    const chunk = given.slice(cachedTokens, chunkEnd(cachedTokens, job.sharedTokens ?? 0));
    const logits = await this.runner.append(this.staging, chunk, cachedTokens, adapterOf(sequence));
    sequence.cachedTokens += chunk.length;
    const read = sequence.prefix.filter(({ end }) => end <= sequence.cachedTokens);
    if (job.isolationKey !== undefined && read.at(-1)?.end === sequence.cachedTokens) {
      const keys = read.map(({ key }) => key);
      this.prefixes.add(job.isolationKey, keys, this.staging.read(0, cachedTokens, chunk.length));
    }
    if (sequence.cachedTokens < given.length) return 'incomplete';
    return this.takeToken(sequence, logits) ? 'ended' : 'goes on';
  }

  /** An error here ends all that run: without the memory for the newcomer, the cache has lost its contents. */
  private joinBatch(newcomer: Sequence): void {
    const slot = this.running.length;
    const kept = this.batchContents();
    this.running.push(newcomer);
    // Reserves all that it may need. What it never uses is never touched, and takes no memory on Linux.
    this.cache.reserve(longestLength(this.running.map(({ job }) => job)), slot + 1, kept);
    this.cache.copy(this.staging, 0, slot, newcomer.cachedTokens);
  }

  /** Copies the known beginning of a prompt into the cache. */
  private restorePrefix(sequence: Sequence): void {
    const states = this.prefixes.find(sequence.prefix.map(({ key }) => key));
    for (const [index, { end }] of sequence.prefix.slice(0, states.length).entries()) {
      this.staging.write(0, sequence.cachedTokens, states[index] ?? new Float32Array());
      sequence.cachedTokens = end;
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
        // The error is in its logits, sampler or test of completeness. The other rows have their own.
        finished.add(sequence);
        sequence.reject(failure(error));
      }
    });
    this.removeFromBatch(finished);
  }

  /** Samples the next token and returns whether the sequence has ended with it. */
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

  /** Frees the slots of sequences that have ended. The last sequences move into the gaps. */
  private removeFromBatch(sequences: ReadonlySet<Sequence>): void {
    for (let slot = this.running.length - 1; slot >= 0; slot -= 1) {
      const sequence = this.running[slot];
      if (sequence === undefined || !sequences.has(sequence)) continue;
      const last = this.running.pop();
      if (last === undefined || last === sequence) continue;
      this.cache.copy(this.cache, this.running.length, slot, last.cachedTokens);
      this.running[slot] = last;
    }
  }

  /** The part of the cache that the running sequences use. */
  private batchContents(): CacheContents {
    return { slots: this.running.length, tokens: Math.max(0, ...this.running.map((one) => one.cachedTokens)) };
  }

  private dropCancelled(): void {
    const cancelled = this.running.filter((sequence) => this.isCancelled(sequence));
    cancelled.forEach(cancel);
    this.removeFromBatch(new Set(cancelled));
    if (this.reading !== undefined && this.isCancelled(this.reading)) {
      cancel(this.reading);
      this.reading = undefined;
    }
    this.dropWaiting();
  }

  private dropWaiting(): void {
    this.queue.remove((sequence) => this.isCancelled(sequence)).forEach(cancel);
  }

  private isCancelled({ job }: Sequence): boolean {
    return this.closed || job.signal?.aborted === true;
  }

  /** When a shared run fails, it is not known which sequence caused it. So all that took part end; the others go on. */
  private failRunning(error: EngineError): void {
    for (const sequence of this.running.splice(0)) sequence.reject(error);
  }
}
