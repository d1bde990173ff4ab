import fc from 'fast-check';
import { operation } from './operations.js';
import { play, type Played } from './player.js';

/** Some 230 on average. */
const maxSteps = 300;
const defaultHistories = 12;

export interface SimulationOptions {
  readonly histories?: number;
  /** Goes on for so long, however many histories that makes. */
  readonly minutes?: number;
  /** Both as a failure prints them. */
  readonly seed?: number;
  readonly path?: string;
  readonly onPlayed?: (played: Played) => void;
}

/** Plays random histories; rejects with the seed, the path and the shortest history that still fails. */
export async function simulate({ histories, minutes, seed, path, onPlayed }: SimulationOptions): Promise<void> {
  const history = fc.array(operation, { maxLength: maxSteps, size: 'max' });
  let latest: Promise<Played> | undefined;
  const property = fc.asyncProperty(history, async (operations) => {
    latest = play(operations);
    onPlayed?.(await latest);
  });
  await fc.assert(property, {
    ...(minutes === undefined
      ? { numRuns: histories ?? defaultHistories }
      : {
          numRuns: Number.MAX_SAFE_INTEGER,
          interruptAfterTimeLimit: minutes * 60_000,
          markInterruptAsFailure: false,
        }),
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  });
  // The time limit does not wait for the history that is being played, whose workers would go on for ever.
  await latest;
}
