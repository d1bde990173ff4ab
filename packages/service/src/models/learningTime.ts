import type { ExpectedWork } from '@engraft/learning';

/** All in tokens per second, except the step. */
export interface MeasuredSpeeds {
  /** Many sequences through the model at once, as when pairs are scored. */
  readonly reading: number;
  /** Eight answers at a time, as when a teacher asks. */
  readonly writing: number;
  /** One step of training takes so long, with as many rows as the recipe has. */
  readonly stepSeconds: number;
}

/** About how long a passage takes to learn. Other work on the machine makes it longer. */
export function learningSeconds(
  { readTokens, writtenTokens, steps }: ExpectedWork,
  { reading, writing, stepSeconds }: MeasuredSpeeds,
): number {
  return readTokens / reading + writtenTokens / writing + steps * stepSeconds;
}
