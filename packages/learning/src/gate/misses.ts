import type { ScoringOutcome, TeachingOutcome } from '../outcomes.js';
import type { TaughtPassage } from '../teaching/teacher.js';
import { wordsWithin } from '../text/normalise.js';
import { sentencesOf } from '../text/sentences.js';
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

/** The parts of a passage without a confirmed answer, be it new to the subject or known. */
export interface Untaught {
  /** Numbers, from 1, of the passage's own sentences; a heading is none. */
  readonly sentences: readonly number[];
  /** Values of tables and lists. Their sentences were made here, so a number would tell the sender nothing. */
  readonly listedCount: number;
  /** Whether the passage has headings, or values of tables and lists. */
  readonly hasOthers: boolean;
}

export function untaughtOf(
  { text: passage, told = new Map() }: TaughtPassage,
  { facts, known }: ScoringOutcome,
): Untaught {
  const answers = [...facts, ...known].map(({ answer }) => answer);
  const isUntaught = (text: string): boolean => {
    const has = wordsWithin(text);
    return !answers.some((answer) => has(answer));
  };
  const texts = sentencesOf(passage).flatMap(({ text }) => (text.trim() === '' ? [] : [text.trim()]));
  const own = texts.filter((text) => !told.has(text));
  const listed = texts.filter((text) => !['title', undefined].includes(told.get(text)?.kind));
  return {
    sentences: own.flatMap((text, index) => (isUntaught(text) ? [index + 1] : [])),
    listedCount: listed.filter(isUntaught).length,
    hasOthers: own.length < texts.length,
  };
}
