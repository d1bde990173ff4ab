import type { SequenceScore } from '@engraft/engine';
import type { Recipe } from '../recipe/recipe.js';
import type { ScoredFact } from './gain.js';
import { splitFacts, type SplitFact } from './split.js';

export interface FreshFacts {
  /** The facts to be learned, with the teacher's alternatives for their answers. */
  readonly split: readonly (SplitFact & { readonly softTargets: SequenceScore['topK'] | null })[];
  /** Facts that the subject knows, and that are not learned again. */
  readonly known: readonly ScoredFact[];
}

/**
 * Leaves out what the subject knows. If that leaves too little to test with, everything is learned once more, so that a
 * passage with little news is not refused.
 */
export function splitFresh(scored: readonly ScoredFact[], seed: number, { split, teaching }: Recipe): FreshFacts {
  const splitWithTargets = (facts: readonly ScoredFact[]): FreshFacts['split'] =>
    splitFacts(facts, seed, split).map((fact, index) => {
      return { ...fact, softTargets: facts[index]?.softTargets ?? null };
    });
  const isKnown = ({ gainNats }: ScoredFact): boolean => gainNats !== null && gainNats < teaching.minGainNats;
  const fresh = splitWithTargets(scored.filter((fact) => !isKnown(fact)));
  const heldOut = fresh.reduce((count, { validation }) => count + validation.length, 0);
  return heldOut >= split.minValidationPairs
    ? { split: fresh, known: scored.filter(isKnown) }
    : { split: splitWithTargets(scored), known: [] };
}
