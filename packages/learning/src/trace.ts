import { z } from 'zod';
import { validationPairs } from './gate/evaluate.js';
import { lossPoints, type LossPoint } from './lossCurve.js';
import { trainingSchema, type EvaluatingOutcome, type ScoringOutcome, type TrainingOutcome } from './outcomes.js';
import { questionsOf } from './rehearsal.js';
import type { LearningTrace } from './types.js';

const maxTracedQuestions = 100;

/** How a learning went, without its passage: of the held-out questions those that are no sentences of it. */
export function traceOf(
  { curve }: TrainingOutcome,
  scoring: ScoringOutcome,
  { replies }: EvaluatingOutcome,
): LearningTrace {
  const synthetic = syntheticQuestions(scoring);
  const questions = validationPairs(scoring).flatMap((pair, index) => {
    const reply = replies[index];
    return reply === undefined || !synthetic.has(pair.question) ? [] : [{ ...pair, ...reply }];
  });
  return { loss: lossPoints(curve), questions: questions.slice(0, maxTracedQuestions) };
}

/** The training loss of a stored training phase. Empty if it cannot be read, or has been removed. */
export function lossOfOutcome(stored: unknown): LossPoint[] {
  const parsed = z.object({ outcome: trainingSchema }).safeParse(stored);
  return parsed.success ? lossPoints(parsed.data.outcome.curve) : [];
}

/** The held-out questions that are no sentences of the passage. */
export function syntheticQuestions({ facts }: ScoringOutcome): ReadonlySet<string> {
  return new Set(
    facts.flatMap(({ answer, validation }) =>
      questionsOf({ answer, forms: validation }).map(({ question }) => question),
    ),
  );
}
