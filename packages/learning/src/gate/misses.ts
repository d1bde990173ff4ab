import type { ScoringOutcome, TeachingOutcome } from '../outcomes.js';
import type { TaughtPassage } from '../teaching/teacher.js';
import { saidSentences } from '../text/chunk.js';
import { wordsWithin } from '../text/normalise.js';
import type { GateReason } from '../types.js';
import { syntheticQuestions } from '../trace.js';

/** Why a passage leaves nothing to train. */
export function whyNothing({ understood, language_known = true }: TeachingOutcome): GateReason {
  if (!language_known) return 'language_not_known';
  return understood ? 'too_few_validated' : 'not_understood';
}

/**
 * Counts the missed questions that are sentences of the passage, and names the others. A rejected job's result is kept,
 * but the passage is not.
 */
export function namedMisses(missed: readonly string[], scoring: ScoringOutcome) {
  const synthetic = syntheticQuestions(scoring);
  return { missed: missed.filter((question) => synthetic.has(question)), missedCount: missed.length };
}

/** Numbers, from 1, of the sentences without a confirmed answer, be it new to the subject or known. */
export function untaughtSentences({ chunks }: TaughtPassage, { facts, known }: ScoringOutcome): number[] {
  return chunks.flatMap(saidSentences).flatMap(({ text }, index) => {
    const has = wordsWithin(text);
    return [...facts, ...known].some(({ answer }) => has(answer)) ? [] : [index + 1];
  });
}
