import { recipe } from './recipe.js';
import type { ValidationReport } from './types.js';

/** How many of the same questions the candidate and its parent answered. */
export interface Comparison {
  readonly candidate: number;
  readonly parent: number;
  readonly total: number;
}

export interface EvaluationCounts {
  readonly validation: Comparison;
  readonly retention: Comparison;
  readonly canaries: Comparison;
}

export type GateReason =
  'too_few_validated' | 'too_few_passed' | 'not_better_than_parent' | 'earlier_passages_lost' | 'skills_lost';

/** Every reason for which the candidate must not be used; none means that it passed. */
export function gateReasons({ validation, retention, canaries }: EvaluationCounts): GateReason[] {
  const reasons: GateReason[] = [];
  if (validation.total < recipe.minValidationPairs) reasons.push('too_few_validated');
  else if (validation.candidate < neededPasses(validation)) reasons.push('too_few_passed');
  // A parent that knows the passage already cannot be bettered; then it is enough not to fall behind.
  else if (validation.candidate <= validation.parent && validation.parent < neededPasses(validation)) {
    reasons.push('not_better_than_parent');
  }
  if (retention.candidate < Math.floor(recipe.minRetentionShare * retention.parent))
    reasons.push('earlier_passages_lost');
  if (canaries.candidate < Math.floor(recipe.minCanaryShare * canaries.parent)) reasons.push('skills_lost');
  return reasons;
}

/** One right answer is no evidence, however few were asked for. */
function neededPasses({ total }: Comparison): number {
  return Math.max(recipe.minValidationPairs, recipe.minPassRate * total);
}

export function validationReport(counts: EvaluationCounts): ValidationReport {
  return {
    passed: gateReasons(counts).length === 0,
    passed_count: counts.validation.candidate,
    total_count: counts.validation.total,
    base_passed_count: counts.validation.parent,
    retention_passed_count: counts.retention.candidate,
    retention_total_count: counts.retention.total,
  };
}
