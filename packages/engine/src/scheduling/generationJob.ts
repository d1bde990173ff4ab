/** One sequence to be generated, and what is generated. */
import type { Random } from '../support/random.js';
import type { AdapterReference } from '../types.js';

/** The beginning of one sequence, and the conditions that end it. */
export interface GenerationJob {
  /** At least one token. Leaves room for one more in the context. */
  readonly prompt: readonly number[];
  /** The number of tokens at the beginning of the prompt that other prompts begin with, too; 0 if none are known. */
  readonly sharedTokens?: number;
  /** Tokens that the output begins with, whatever the model would have preferred. */
  readonly forced: readonly number[];
  /** Greatest length of the output, forced tokens included; at least 1. */
  readonly maxOutputTokens: number;
  readonly stopTokens: ReadonlySet<number>;
  /** Asked after every token. Ends the output when it returns true. */
  readonly isComplete?: (output: readonly number[]) => boolean;
  readonly temperature: number;
  /** See `GenerateRequest.minP`. */
  readonly minP?: number;
  /** See `Sampling.banned`. */
  readonly banned?: readonly number[];
  readonly wantsLogprob?: boolean;
  readonly random: Random;
  /** Loaded when there is memory for it, at the latest when the job's turn comes. */
  readonly adapter: AdapterReference | null;
  /**
   * Jobs of the same key and adapter share the attention state of equal beginnings. Without a key nothing is shared.
   */
  readonly isolationKey?: string;
  readonly signal?: AbortSignal;
}

export interface Generation {
  /** Every token written, the stop token included. */
  readonly tokens: readonly number[];
  readonly ended: 'stop' | 'length';
  /** The number of tokens at the beginning of the prompt whose attention state was reused. */
  readonly reusedTokens: number;
  /** Log-probability of the tokens without the forced ones, in nats; 0 if the job did not ask for it. */
  readonly logprob: number;
}

export function forcedTokens({ forced, maxOutputTokens }: GenerationJob): number[] {
  return forced.slice(0, maxOutputTokens);
}

/** The length of the longest job at its end, in tokens. */
export function longestLength(jobs: readonly GenerationJob[]): number {
  return Math.max(0, ...jobs.map(finalLength));
}

/** The length of a job at its end, in tokens. The last token is never put into the cache, but it counts here. */
export function finalLength({ prompt, maxOutputTokens }: GenerationJob): number {
  return prompt.length + maxOutputTokens;
}
