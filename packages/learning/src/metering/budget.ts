import type { Recipe, ReplayRecipe, TrainingRecipe } from '../recipe/recipe.js';
import type { LearningBudget } from '../types.js';

/** What the passage asks for, before any call: counts and mean lengths in tokens. */
export interface PassageSize {
  readonly factCount: number;
  /** The teacher's prompt with a chunk and a question. */
  readonly readingPromptTokens: number;
  /** A question without its passage, and its answer. */
  readonly pairTokens: number;
  /** Questions that the teacher reads back of each fact beside those that are planned, on average. */
  readonly extraReads: number;
  /** Earlier passages that the subject knows, and that are rehearsed. */
  readonly earlierPassages: number;
}

export interface TeachingPlan {
  readonly factCount: number;
  readonly formsPerFact: number;
}

/** Worst cases of what a question and an answer cost to write; most are much shorter. */
const questionTokens = 24;
const answerTokens = 12;

/**
 * How many facts to teach, and how many questions each, with what teaching and scoring may cost. Fewer facts before
 * fewer than `minFormsPerFact` questions; never more facts than training can afford to show `minExposuresPerFact`
 * times. `null` when not even one fact can be learned. Grows with the budget: more money, never fewer facts, and
 * for as many facts never fewer forms.
 */
export function planTeaching(budget: LearningBudget, size: PassageSize, recipe: Recipe): TeachingPlan | null {
  const { maxFacts, formsPerFact, minFormsPerFact } = recipe.teaching;
  const capNanousd = budget.max_compute_microusd * 1000;
  const learnable = learnableFacts(budget, size, recipe);
  const wanted = Math.min(size.factCount, maxFacts, learnable);
  const affordable = (forms: number): number =>
    Math.floor((capNanousd * recipe.shares.scoring) / factNanousd(forms, budget, size));
  for (let forms = formsPerFact; forms > minFormsPerFact; forms--) {
    if (affordable(forms) >= wanted) return wanted === 0 ? null : { factCount: wanted, formsPerFact: forms };
  }
  const factCount = Math.min(wanted, affordable(minFormsPerFact));
  return factCount === 0 ? null : { factCount, formsPerFact: minFormsPerFact };
}

/**
 * The price of asking one question, rephrasing it, verifying every form, and scoring the answer with and without the
 * passage.
 */
function factNanousd(forms: number, budget: LearningBudget, size: PassageSize): number {
  const { input_nanousd_per_token: input, output_nanousd_per_token: output } = budget;
  const { cached_input_nanousd_per_token: cached } = budget;
  const ask = size.readingPromptTokens * input + questionTokens * output;
  const rephrase = size.pairTokens * input + questionTokens * output;
  const verify = size.readingPromptTokens * input + answerTokens * output;
  const score = (size.readingPromptTokens + size.pairTokens + answerTokens) * input;
  // The passage before them was read for the others.
  const extra = size.readingPromptTokens * cached + questionTokens * input + answerTokens * output;
  return ask + (forms - 1) * 1.5 * rephrase + forms * verify + size.extraReads * extra + score;
}

function learnableFacts(budget: LearningBudget, size: PassageSize, { training, replay, shares }: Recipe): number {
  const exposureNanousd = size.pairTokens * budget.training_nanousd_per_token;
  const rows = training.pairsPerBatch + replay.rowsPerBatch + rehearsalRows(size.earlierPassages, replay);
  const shareOfPairs = training.pairsPerBatch / rows;
  const trainingNanousd = budget.max_compute_microusd * 1000 * (shares.training - shares.scoring) * shareOfPairs;
  return Math.floor(trainingNanousd / (exposureNanousd * training.minExposuresPerFact));
}

/**
 * Optimiser steps that show every fact `exposuresPerFact` times, up to `maxExposuresPerFact` times where that is few
 * steps.
 */
export function wantedSteps(factCount: number, training: TrainingRecipe): number {
  const exposing = (exposures: number): number => Math.ceil((factCount * exposures) / training.pairsPerBatch);
  const more = Math.min(training.enoughSteps, exposing(training.maxExposuresPerFact));
  return Math.min(training.maxSteps, Math.max(exposing(training.exposuresPerFact), more, training.minSteps));
}

/** How many of the wanted steps are affordable at `stepNanousd` a step; `null` when fewer than `minSteps` are. */
export function planSteps(
  freeNanousd: number,
  stepNanousd: number,
  factCount: number,
  training: TrainingRecipe,
): number | null {
  const affordable = Math.floor(freeNanousd / stepNanousd);
  return affordable < training.minSteps ? null : Math.min(affordable, wantedSteps(factCount, training));
}

/** The more there is to remember, the more rows of a batch rehearse it; none where there is nothing. */
export function rehearsalRows(earlierPassages: number, { maxRehearsalPerBatch }: ReplayRecipe): number {
  return earlierPassages === 0 ? 0 : Math.min(2 * earlierPassages + 2, maxRehearsalPerBatch);
}
