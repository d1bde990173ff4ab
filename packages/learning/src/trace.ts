import type { AdapterReference } from '@engraft/engine';
import { z } from 'zod';
import { validationPairs } from './gate/evaluate.js';
import { lossPoints, type LossPoint } from './lossCurve.js';
import { trainingSchema, type EvaluatingOutcome, type ScoringOutcome, type TrainingOutcome } from './outcomes.js';
import type { Recipe } from './recipe/recipe.js';
import { questionsOf } from './rehearsal.js';
import { givesAnswer } from './text/judge.js';
import type { AskedQuestion, HeldOutReply, LearningTrace } from './types.js';

const maxTracedQuestions = 100;

/** Whether a reply may be a sentence of the passage, or of one that the parent has learned. */
export function mayQuote(
  { training: { answersWith, sentencesIfAskedPoorly } }: Recipe,
  parent: AdapterReference | null,
): boolean {
  return answersWith === 'sentences' || (sentencesIfAskedPoorly && parent !== null);
}

/**
 * How a learning went, without its passage: it leaves out questions that are sentences of it, and the texts of replies
 * that may be sentences of one (`mayQuote`).
 */
export function traceOf(
  { curve }: TrainingOutcome,
  scoring: ScoringOutcome,
  { replies }: EvaluatingOutcome,
  quotes: boolean,
): LearningTrace {
  const synthetic = syntheticQuestions(scoring);
  const questions = validationPairs(scoring).flatMap(({ question, answer }, index): AskedQuestion[] => {
    const reply = replies[index];
    if (reply === undefined || !synthetic.has(question)) return [];
    const shown = (text: string): HeldOutReply => ({
      text: quotes ? null : text,
      is_right: givesAnswer(question, text, [answer]),
    });
    return [{ question, answer, parent: shown(reply.parent), candidate: shown(reply.candidate) }];
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
