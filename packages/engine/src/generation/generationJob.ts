/** One sequence to be generated, and what comes of it. */
import type { Random } from '../random.js';
import type { LoadedAdapter } from './loadedAdapter.js';

/** An adapter that is brought into memory when there is room, at the latest when its job's turn comes. */
export interface JobAdapter {
  readonly contentHash: string;
  /** The adapter, if no load is needed. */
  inMemory?(): LoadedAdapter | undefined;
  /**
   * @throws EngineError `adapter_damaged`, `adapter_invalid` or `memory_exceeded`; `cancelled` when it has been
   * released meanwhile.
   */
  load(): Promise<LoadedAdapter>;
  /** Told when its job has ended, which does not use it any more; until then it stays as it is. */
  release?(): void;
}

/** What one sequence starts from, and when it ends. */
export interface GenerationJob {
  /** At least one token; leaves room for one more in the context. */
  readonly prompt: readonly number[];
  /** Tokens that the output begins with, whatever the model would have preferred. */
  readonly forced: readonly number[];
  /** Output ends here at the latest, forced tokens included; at least 1. */
  readonly maxOutputTokens: number;
  readonly stopTokens: ReadonlySet<number>;
  /** Ends the output when it holds for the tokens so far; asked after every token. */
  readonly isComplete?: (output: readonly number[]) => boolean;
  readonly temperature: number;
  /** See `GenerateRequest.minP`. */
  readonly minP?: number;
  /** See `Sampling.banned`. */
  readonly banned?: readonly number[];
  readonly wantsLogprob?: boolean;
  readonly random: Random;
  readonly adapter: JobAdapter | null;
  /** Jobs of the same key and adapter share the attention state of equal beginnings; without it, nothing is shared. */
  readonly isolationKey?: string;
  readonly signal?: AbortSignal;
}

export interface Generation {
  /** Every token written, the stop token included. */
  readonly tokens: readonly number[];
  readonly ended: 'stop' | 'length';
  /** Tokens at the beginning of the prompt whose attention state was there already. */
  readonly reusedTokens: number;
  /** Log-probability of the tokens, forced ones left out, in nats; 0 when the job did not want it. */
  readonly logprob: number;
}

export function forcedTokens({ forced, maxOutputTokens }: GenerationJob): number[] {
  return forced.slice(0, maxOutputTokens);
}

/** Tokens of the longest job at its end. */
export function longestLength(jobs: readonly GenerationJob[]): number {
  return Math.max(0, ...jobs.map(finalLength));
}

/** Tokens of a job at its end; the last is never put into the cache, but it may. */
export function finalLength({ prompt, maxOutputTokens }: GenerationJob): number {
  return prompt.length + maxOutputTokens;
}
