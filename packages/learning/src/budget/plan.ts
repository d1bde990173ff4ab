import type { Recipe, ReplayRecipe, TrainingRecipe } from '../recipe/recipe.js';
import type { LearningBudget } from '../types.js';

/** The passage's needs as known before any call: counts, and mean lengths in tokens. */
export interface PassageSize {
  readonly factCount: number;
  /** The teacher's prompt with a chunk and a question. */
  readonly readingPromptTokens: number;
  /** A question without its passage, and its answer. */
  readonly pairTokens: number;
  /** The same as it is trained: with a sentence for an answer where answers are sentences. */
  readonly trainedPairTokens: number;
  /** Questions that the teacher reads back for each fact beside the planned ones, on average. */
  readonly extraReads: number;
  /** Earlier passages of the subject, which are rehearsed. */
  readonly earlierPassages: number;
}

export interface TeachingPlan {
  readonly factCount: number;
  readonly formsPerFact: number;
}

/** Worst cases of writing a question and an answer. Most are much shorter. */
const questionTokens = 24;
const answerTokens = 12;

/**
 * Says how many facts to teach and how many questions to ask about each, from what teaching and scoring may cost.
 * It drops facts before it goes below `minFormsPerFact` questions a fact, and takes no more facts than training can
 * afford to show `minExposuresPerFact` times. `null` means that not even one fact can be learned. The plan grows with
 * the budget: more money never means fewer facts, nor fewer forms for as many facts.
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
 * The price of a fact: asking one question, rephrasing it, verifying every form, and scoring the answer with and
 * without the passage.
 */
function factNanousd(forms: number, budget: LearningBudget, size: PassageSize): number {
  const { input_nanousd_per_token: input, output_nanousd_per_token: output } = budget;
  const { cached_input_nanousd_per_token: cached } = budget;
  const ask = size.readingPromptTokens * input + questionTokens * output;
  const rephrase = size.pairTokens * input + questionTokens * output;
  const verify = size.readingPromptTokens * input + answerTokens * output;
  const score = (size.readingPromptTokens + size.pairTokens + answerTokens) * input;
  // The passage before them has been read for the others.
  const extra = size.readingPromptTokens * cached + questionTokens * input + answerTokens * output;
  return ask + (forms - 1) * 1.5 * rephrase + forms * verify + size.extraReads * extra + score;
}

function learnableFacts(budget: LearningBudget, size: PassageSize, { training, replay, shares }: Recipe): number {
  const exposureNanousd = size.trainedPairTokens * budget.training_nanousd_per_token;
  const beside = replay.rowsPerBatch + replay.unknownRowsPerBatch + rehearsalRows(size.earlierPassages, replay);
  const rows = training.pairsPerBatch + beside;
  const shareOfPairs = training.pairsPerBatch / rows;
  const trainingNanousd = budget.max_compute_microusd * 1000 * (shares.training - shares.scoring) * shareOfPairs;
  return Math.floor(trainingNanousd / (exposureNanousd * training.minExposuresPerFact));
}

/**
 * Optimizer steps that show every fact `exposuresPerFact` times, or up to `maxExposuresPerFact` times if that would be
 * few steps.
 */
export function wantedSteps(factCount: number, training: TrainingRecipe): number {
  const exposing = (exposures: number): number => Math.ceil((factCount * exposures) / training.pairsPerBatch);
  const more = Math.min(training.enoughSteps, exposing(training.maxExposuresPerFact));
  return Math.min(training.maxSteps, Math.max(exposing(training.exposuresPerFact), more, training.minSteps));
}

/** How many of the wanted steps are affordable at `stepNanousd` a step. `null` if fewer than `minSteps` are. */
export function planSteps(
  freeNanousd: number,
  stepNanousd: number,
  factCount: number,
  training: TrainingRecipe,
): number | null {
  const affordable = Math.floor(freeNanousd / stepNanousd);
  return affordable < training.minSteps ? null : Math.min(affordable, wantedSteps(factCount, training));
}

/** Rehearsal rows in a batch. The more there is to remember, the more rows rehearse it. */
export function rehearsalRows(
  earlierPassages: number,
  { rehearsedPerPassage, maxRehearsalPerBatch }: ReplayRecipe,
): number {
  return earlierPassages === 0 ? 0 : Math.min(rehearsedPerPassage * (earlierPassages + 1), maxRehearsalPerBatch);
}
