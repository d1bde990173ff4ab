import type { Recipe } from '../recipe/recipe.js';
import type { Comparison, Drift, GateReason, GateReport, ValidationReport } from '../types.js';

/** The parts of the recipe that the gate reads. */
export type GateRecipe = Pick<Recipe, 'split' | 'evaluating'>;

export interface EvaluationCounts {
  readonly validation: Comparison;
  readonly retention: Comparison;
  readonly canaries: Comparison;
  readonly drift: Drift;
}

const none: Comparison = { candidate: 0, parent: 0, total: 0, unasked: 0 };

/** The counts of a job that never came to evaluation. */
export const nothingCompared: EvaluationCounts = {
  validation: none,
  retention: none,
  canaries: none,
  drift: { nats: null, replies: 0, unasked: 0 },
};

/** Lists every reason why the candidate must not be used. An empty list means that it passed. */
export function gateReasons(counts: EvaluationCounts, recipe: GateRecipe): GateReason[] {
  const { validation, retention, canaries, drift } = counts;
  const { minValidationPairs } = recipe.split;
  const { minRetentionShare, minCanaryShare, maxDriftNats, minMeasuredShare } = recipe.evaluating;
  const reasons: GateReason[] = [];
  if (validation.total + validation.unasked < minValidationPairs) reasons.push('too_few_validated');
  else if (validation.total < minValidationPairs) reasons.push('not_measured');
  else if (validation.candidate < neededPasses(validation, recipe)) reasons.push('too_few_passed');
  else if (!isWorthIt(validation, recipe)) reasons.push('not_better_than_parent');
  if (retention.candidate < share(minRetentionShare, retention.parent)) reasons.push('earlier_passages_lost');
  const hasDrifted = (drift.nats ?? 0) > maxDriftNats;
  if (hasDrifted || canaries.candidate < share(minCanaryShare, canaries.parent)) reasons.push('skills_lost');
  const skills = { total: drift.replies, unasked: drift.unasked };
  const areMeasured = [retention, canaries, skills].every((asked) => isMeasured(asked, minMeasuredShare));
  if (!reasons.includes('not_measured') && !areMeasured) reasons.push('not_measured');
  return reasons;
}

/** A candidate cannot beat a parent that knows the passage already. Then it need only not fall far behind. */
function isWorthIt(validation: Comparison, recipe: GateRecipe): boolean {
  const { candidate, parent } = validation;
  return parent < neededPasses(validation, recipe)
    ? candidate > parent
    : candidate >= share(recipe.evaluating.minRetentionShare, parent);
}

/** How many of the parent's passes the candidate must keep: at least one, if there are any. */
function share(least: number, parent: number): number {
  return Math.max(Math.floor(least * parent), Math.min(1, parent));
}

/** Whether there was money to ask enough of them. */
function isMeasured({ total, unasked }: Pick<Comparison, 'total' | 'unasked'>, leastShare: number): boolean {
  return total >= leastShare * (total + unasked);
}

export function gateReport(counts: EvaluationCounts, recipe: GateRecipe): GateReport {
  return { reasons: gateReasons(counts, recipe), canaries: counts.canaries, drift: counts.drift };
}

/** One right answer is no evidence, however few questions were asked. */
export function neededPasses({ total }: Comparison, { split, evaluating }: GateRecipe): number {
  return Math.max(split.minValidationPairs, evaluating.minPassRate * total);
}

export function validationReport(counts: EvaluationCounts, recipe: GateRecipe): ValidationReport {
  return {
    passed: gateReasons(counts, recipe).length === 0,
    passed_count: counts.validation.candidate,
    total_count: counts.validation.total,
    base_passed_count: counts.validation.parent,
    retention_passed_count: counts.retention.candidate,
    retention_total_count: counts.retention.total,
  };
}
