import type { ExpectedWork } from '@engraft/learning';

/** Tokens per second. */
export interface MeasuredSpeeds {
  /** Many sequences at once, as in scoring pairs. */
  readonly reading: number;
  /** Eight answers at a time, as when a teacher asks. */
  readonly writing: number;
  /** Over all rows of a training step. */
  readonly training: number;
}

/** Roughly how long a passage takes to learn. Other work on the machine makes it longer. */
export function learningSeconds(
  { readTokens, writtenTokens, trainedTokens }: Pick<ExpectedWork, 'readTokens' | 'writtenTokens' | 'trainedTokens'>,
  { reading, writing, training }: MeasuredSpeeds,
): number {
  return readTokens / reading + writtenTokens / writing + trainedTokens / training;
}
