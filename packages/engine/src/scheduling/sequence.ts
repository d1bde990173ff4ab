/** A job that waits or runs, and how it ends. */
import type { LoadedAdapter } from '../adapters/loadedAdapter.js';
import { prefixChunks, type PrefixChunk } from '../cache/prefixCache.js';
import { EngineError } from '../engine.js';
import { cancelled } from '../support/cancelling.js';
import { deferred } from '../support/deferred.js';
import { finalLength, forcedTokens, type Generation, type GenerationJob } from './generationJob.js';

export interface Sequence {
  readonly job: GenerationJob;
  /** Undefined until it is loaded. */
  adapter: LoadedAdapter | null | undefined;
  readonly output: number[];
  /** The chunks that may be reused. */
  readonly prefix: readonly PrefixChunk[];
  reusedTokens: number;
  /** `Generation.logprob` of the output so far. */
  logprob: number;
  /** The number of tokens of prompt and output that are in the cache. */
  cachedTokens: number;
  readonly ended: Promise<Generation>;
  readonly resolve: (generation: Generation) => void;
  readonly reject: (error: unknown) => void;
}

export function newSequence(job: GenerationJob): Sequence {
  const { promise, resolve, reject } = deferred<Generation>();
  return {
    job,
    adapter: job.adapter === null ? null : undefined,
    output: forcedTokens(job),
    prefix: prefixOf(job),
    reusedTokens: 0,
    logprob: 0,
    cachedTokens: 0,
    ended: promise,
    resolve,
    reject,
  };
}

/** Forced tokens are left out: only the prompt is reused. Without an isolation key nothing is. */
function prefixOf({ prompt, sharedTokens, isolationKey, adapter }: GenerationJob): readonly PrefixChunk[] {
  if (isolationKey === undefined) return [];
  return prefixChunks({ isolationKey, adapterHash: adapter?.contentHash ?? null }, prompt, sharedTokens);
}

export function adapterOf({ adapter }: Sequence): LoadedAdapter | null {
  if (adapter === undefined) throw new Error('a sequence began before its adapter was loaded');
  return adapter;
}

export function end({ output, reusedTokens, logprob, resolve }: Sequence, ended: Generation['ended']): void {
  resolve({ tokens: output, ended, reusedTokens, logprob });
}

export function cancel(sequence: Sequence): void {
  sequence.reject(cancelled());
}

/** The error of a job whose keys and values would not fit in memory even if it ran alone. */
export function tooLong(job: GenerationJob, maxCacheBytes: number): EngineError {
  const message = `the keys and values of ${finalLength(job)} tokens do not fit in maxCacheBytes, ${maxCacheBytes} bytes`;
  return new EngineError('memory_exceeded', `${message}: ask for fewer tokens or raise this bound`);
}

/** The error of every sequence of a batch whose step has failed. */
export function sharedFailure(error: unknown): EngineError {
  const message = 'the model failed in a step that several requests share; they may be repeated';
  return new EngineError('batch_lost', message, { cause: error });
}

/** An error for one sequence. A model that can no longer be read keeps its own message. */
export function failure(error: unknown): EngineError {
  if (error instanceof EngineError && error.code === 'checkpoint_invalid') return error;
  return new EngineError('internal', 'the model failed while generating', { cause: error });
}
