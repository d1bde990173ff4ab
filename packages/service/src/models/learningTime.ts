import type { ExpectedWork } from '@engraft/learning';

/** Tokens per second, except the step. */
export interface MeasuredSpeeds {
  /** Many sequences at once, as in scoring pairs. */
  readonly reading: number;
  /** Eight answers at a time, as when a teacher asks. */
  readonly writing: number;
  /** The time of one training step, with as many rows as the recipe has. */
  readonly stepSeconds: number;
}

/** Roughly how long a passage takes to learn. Other work on the machine makes it longer. */
export function learningSeconds(
  { readTokens, writtenTokens, steps }: Pick<ExpectedWork, 'readTokens' | 'writtenTokens' | 'steps'>,
  { reading, writing, stepSeconds }: MeasuredSpeeds,
): number {
  return readTokens / reading + writtenTokens / writing + steps * stepSeconds;
}
