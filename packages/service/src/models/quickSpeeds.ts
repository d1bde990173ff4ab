import type { Recipe } from '@engraft/learning';
import type { LoadedEngine } from '../startup/model.js';
import type { MeasuredSpeeds } from './learningTime.js';
import { answeringSpeed, askingSpeed, quickly, readingSpeed } from './modelSpeeds.js';

/** Training a token takes this much longer than reading it: forwards and backwards through the model. */
const trainedPerRead = 3;

export interface QuickSpeeds extends MeasuredSpeeds {
  /** Output tokens per second for one answer at a time, including the time for its prompt. */
  readonly answering: number;
}

/** From a few short calls, within seconds and beside other work. How fast it trains follows from reading. */
export async function quickSpeeds(
  { engine, teachingAdapter }: LoadedEngine,
  recipe: Recipe,
): Promise<QuickSpeeds> {
  const { tokensPerSecond: answering } = await answeringSpeed(engine, quickly);
  const writing = await askingSpeed(engine, teachingAdapter, recipe, quickly);
  const reading = await readingSpeed(engine, teachingAdapter, recipe, quickly);
  return { answering, writing, reading, training: reading / trainedPerRead };
}
