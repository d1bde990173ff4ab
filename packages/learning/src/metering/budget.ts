import { recipe } from '../recipe.js';
import type { LearningBudget } from '../types.js';

/** What the passage asks for, before any call: counts and mean lengths in tokens. */
export interface PassageSize {
  readonly factCount: number;
  /** The teacher's prompt with a chunk and a question. */
  readonly readingPromptTokens: number;
  /** A question without its passage, and its answer. */
  readonly pairTokens: number;
  /** Usual wordings that are read back of each fact at least, on average. */
  readonly templateReads: number;
  /** Which the subject knows, and which are rehearsed. */
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
export function planTeaching(budget: LearningBudget, size: PassageSize): TeachingPlan | null {
  const capNanousd = budget.max_compute_microusd * 1000;
  const learnable = learnableFacts(budget, size);
  const wanted = Math.min(size.factCount, recipe.maxFacts, learnable);
  const affordable = (forms: number): number =>
    Math.floor((capNanousd * recipe.scoringShare) / factNanousd(forms, budget, size));
  for (let forms: number = recipe.formsPerFact; forms > recipe.minFormsPerFact; forms--) {
    if (affordable(forms) >= wanted) return wanted === 0 ? null : { factCount: wanted, formsPerFact: forms };
  }
  const factCount = Math.min(wanted, affordable(recipe.minFormsPerFact));
  return factCount === 0 ? null : { factCount, formsPerFact: recipe.minFormsPerFact };
}

/** To ask one question, rephrase it, verify every form, and score the answer with and without the passage. */
function factNanousd(forms: number, budget: LearningBudget, size: PassageSize): number {
  const { input_nanousd_per_token: input, output_nanousd_per_token: output } = budget;
  const { cached_input_nanousd_per_token: cached } = budget;
  const ask = size.readingPromptTokens * input + questionTokens * output;
  const rephrase = size.pairTokens * input + questionTokens * output;
  const verify = size.readingPromptTokens * input + answerTokens * output;
  const score = (size.readingPromptTokens + size.pairTokens + answerTokens) * input;
  // The passage before them was read for the others.
  const template = size.readingPromptTokens * cached + questionTokens * input + answerTokens * output;
  return ask + (forms - 1) * 1.5 * rephrase + forms * verify + size.templateReads * template + score;
}

function learnableFacts(budget: LearningBudget, size: PassageSize): number {
  const exposureNanousd = size.pairTokens * budget.training_nanousd_per_token;
  const rows = recipe.pairsPerBatch + recipe.replayPerBatch + rehearsalRows(size.earlierPassages);
  const shareOfPairs = recipe.pairsPerBatch / rows;
  const trainingNanousd =
    budget.max_compute_microusd * 1000 * (recipe.trainingShare - recipe.scoringShare) * shareOfPairs;
  return Math.floor(trainingNanousd / (exposureNanousd * recipe.minExposuresPerFact));
}

/** Optimiser steps that show every fact `exposuresPerFact` times, up to `maxExposuresPerFact` times where that is few steps. */
export function wantedSteps(factCount: number): number {
  const exposing = (exposures: number): number => Math.ceil((factCount * exposures) / recipe.pairsPerBatch);
  const more = Math.min(recipe.enoughSteps, exposing(recipe.maxExposuresPerFact));
  return Math.min(recipe.maxSteps, Math.max(exposing(recipe.exposuresPerFact), more, recipe.minSteps));
}

/** Those of the wanted steps that are affordable at `stepNanousd` a step; `null` when fewer than `minSteps` are. */
export function planSteps(freeNanousd: number, stepNanousd: number, factCount: number): number | null {
  const affordable = Math.floor(freeNanousd / stepNanousd);
  return affordable < recipe.minSteps ? null : Math.min(affordable, wantedSteps(factCount));
}

/** The more there is to remember, the more rows of a batch rehearse it; none where there is nothing. */
export function rehearsalRows(earlierPassages: number): number {
  return earlierPassages === 0 ? 0 : Math.min(2 * earlierPassages + 2, recipe.maxRehearsalPerBatch);
}
