import type { Engine } from '@engraft/engine';
import type { TeachingOutcome } from '../outcomes.js';
import { settledRecipe } from '../recipe/defaults.js';
import type { Recipe } from '../recipe/recipe.js';
import type { Rehearsal } from '../types.js';
import { costNanousd, type Meter } from './meter.js';
import { measurePassage } from './passageSize.js';
import { rehearsalRows } from './plan.js';

/** A job whose passage has been taught. */
export interface Taught {
  /** The passage, for the length of its prompts. */
  readonly chunks: readonly { readonly text: string }[];
  readonly teaching: Pick<TeachingOutcome, 'asked_well'>;
  /** Counts what teaching used. */
  readonly meter: Meter;
  /** Rehearsals of the subject's earlier passages. */
  readonly earlier: readonly Pick<Rehearsal, 'answers_with'>[];
}

/**
 * Chooses between values and sentences for answers, see `settledRecipe`. A subject that has learned sentences goes on
 * with them, since values would make it forget them. Sentences take more training. Where there is money for less than
 * `neededStepsShare` of it, answers stay values.
 */
export async function settleRecipe(
  engine: Pick<Engine, 'countTokens' | 'encode'>,
  { chunks, teaching, meter, earlier }: Taught,
  recipe: Recipe,
): Promise<Recipe> {
  const hasSentences = earlier.some(({ answers_with }) => answers_with === 'sentences');
  const settled = settledRecipe(recipe, !hasSentences && (teaching.asked_well ?? true));
  if (settled === recipe || chunks.length === 0) return recipe;
  const { replay, shares, training } = settled;
  const unknownSize = { factCount: 0, extraReads: 0 };
  const { trainedPairTokens } = await measurePassage(engine, chunks, unknownSize, settled, earlier.length);
  const beside = replay.rowsPerBatch + replay.unknownRowsPerBatch + rehearsalRows(earlier.length, replay);
  const stepTokens = (training.pairsPerBatch + beside) * trainedPairTokens;
  const neededTokens = replay.neededStepsShare * training.enoughSteps * stepTokens;
  // Scoring is expected to take as much as teaching did.
  const freeNanousd = meter.freeNanousd(shares.training) - costNanousd(meter.usage, meter.budget);
  return neededTokens * meter.budget.training_nanousd_per_token <= freeNanousd ? settled : recipe;
}
