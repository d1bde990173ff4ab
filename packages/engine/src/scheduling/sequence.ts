/** A job in the works, and how it ends. */
import { EngineError } from '../engine.js';
import type { Generation, GenerationJob } from './generationJob.js';
import type { LoadedAdapter } from '../adapters/loadedAdapter.js';

export interface Sequence {
  readonly job: GenerationJob;
  /** Undefined until it is loaded. */
  adapter: LoadedAdapter | null | undefined;
  readonly output: number[];
  /** Keys of the chunks that may be reused, see `prefixKeys`. */
  readonly prefixKeys: readonly string[];
  reusedTokens: number;
  /** `Generation.logprob` of the output so far. */
  logprob: number;
  /** Tokens of prompt and output that are in the cache. */
  cachedTokens: number;
  readonly resolve: (generation: Generation) => void;
  readonly reject: (error: unknown) => void;
}

export function adapterOf({ adapter }: Sequence): LoadedAdapter | null {
  if (adapter === undefined) throw new Error('a sequence began before its adapter was loaded');
  return adapter;
}

export function end({ output, reusedTokens, logprob, resolve }: Sequence, ended: Generation['ended']): void {
  resolve({ tokens: output, ended, reusedTokens, logprob });
}

export function cancel(sequence: Sequence): void {
  sequence.reject(new EngineError('cancelled', 'generation cancelled'));
}

/** A model that cannot be read any more says so itself. */
export function failure(error: unknown): EngineError {
  if (error instanceof EngineError && error.code === 'checkpoint_invalid') return error;
  return new EngineError('internal', 'the model failed while generating', { cause: error });
}
