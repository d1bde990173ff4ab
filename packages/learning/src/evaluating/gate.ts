import { recipe } from '../recipe.js';
import type { Comparison, GateReason, GateReport, ValidationReport } from '../types.js';

export interface EvaluationCounts {
  readonly validation: Comparison;
  readonly retention: Comparison;
  readonly canaries: Comparison;
}

const none: Comparison = { candidate: 0, parent: 0, total: 0, unasked: 0 };

/** Of a job that never came to evaluation. */
export const nothingCompared: EvaluationCounts = { validation: none, retention: none, canaries: none };

/** Every reason for which the candidate must not be used; none means that it passed. */
export function gateReasons({ validation, retention, canaries }: EvaluationCounts): GateReason[] {
  const reasons: GateReason[] = [];
  if (validation.total + validation.unasked < recipe.minValidationPairs) reasons.push('too_few_validated');
  else if (validation.total < recipe.minValidationPairs) reasons.push('not_measured');
  else if (validation.candidate < neededPasses(validation)) reasons.push('too_few_passed');
  else if (!isWorthIt(validation)) reasons.push('not_better_than_parent');
  if (retention.candidate < share(recipe.minRetentionShare, retention.parent)) reasons.push('earlier_passages_lost');
  if (canaries.candidate < share(recipe.minCanaryShare, canaries.parent)) reasons.push('skills_lost');
  if (!reasons.includes('not_measured') && ![retention, canaries].every(isMeasured)) reasons.push('not_measured');
  return reasons;
}

/** A parent that knows the passage already cannot be bettered; then it is enough not to fall far behind. */
function isWorthIt(validation: Comparison): boolean {
  const { candidate, parent } = validation;
  return parent < neededPasses(validation) ? candidate > parent : candidate >= share(recipe.minRetentionShare, parent);
}

/** Of so many that the parent passes; of few at least one. */
function share(least: number, parent: number): number {
  return Math.max(Math.floor(least * parent), Math.min(1, parent));
}

/** What there was no money to ask was not passed. */
function isMeasured({ total, unasked }: Comparison): boolean {
  return total >= recipe.minMeasuredShare * (total + unasked);
}

export function gateReport(counts: EvaluationCounts): GateReport {
  return { reasons: gateReasons(counts), canaries: counts.canaries };
}

/** One right answer is no evidence, however few were asked for. */
export function neededPasses({ total }: Comparison): number {
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
