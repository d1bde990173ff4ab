/** Why a candidate was rejected, in words for whoever sent the passage. */
import type { GateReason, Rejection } from '../types.js';
import type { Untaught } from './misses.js';
import { neededPasses, type EvaluationCounts, type GateRecipe } from './gate.js';

export interface RejectedLearning {
  readonly reasons: readonly GateReason[];
  readonly counts: EvaluationCounts;
  readonly recipe: GateRecipe;
  /** Held-out questions that the candidate did not answer, without sentences of the passage, which are not kept. */
  readonly missed: readonly string[];
  /** How many there were, those sentences included. */
  readonly missedCount: number;
  readonly untaught: Untaught;
}

/** The most of these that a message names. */
const maxNamed = 5;

/** Says what happened, what would help, and which parts were not learned. */
export function describeRejection(learning: RejectedLearning): Rejection {
  const { reasons, missed, missedCount } = learning;
  const untaught = reasons.some((reason) => ofWholePassage.has(reason)) ? '' : namedParts(learning.untaught);
  const parts = [
    ...reasons.map((reason) => sentences[reason](learning)),
    ...(missed.length === 0 ? [] : [`Not answered: ${namedQuestions(missed, missedCount)}.`]),
    ...(untaught === '' ? [] : [`Nothing was confirmed about ${untaught}.`]),
  ];
  return { reasons, message: parts.join(' ') };
}

/** They are about every sentence. */
const ofWholePassage: ReadonlySet<GateReason> = new Set(['not_understood', 'language_not_known']);

const sentences: Readonly<Record<GateReason, (learning: RejectedLearning) => string>> = {
  not_understood: () =>
    'The model finds the passage hardly likelier than its own words in random order, so it cannot ask about it. ' +
    'What helps: whole sentences instead of keywords, a language that the model reads, or another model.',
  language_not_known: () =>
    'The passage is not in a language that this model is taught in, so nothing was asked about it. ' +
    'What helps: a passage in English, or a model that reads the language and teaches itself.',
  too_few_validated: ({ counts: { validation }, recipe }) =>
    `The model confirmed only ${counted(validation.total, 'question')} to test with; ` +
    `${recipe.split.minValidationPairs} are needed. ` +
    'What helps: short sentences that each name what they are about and state one fact, or a model that asks better.',
  too_few_passed: ({ counts: { validation }, recipe }) =>
    `After training the model answered only ${validation.candidate} of ` +
    `${counted(validation.total, 'held-out question')}; ${Math.ceil(neededPasses(validation, recipe))} are needed. ` +
    'What helps: several shorter passages, fewer values of one kind close together, or a higher max_cost_microusd.',
  not_better_than_parent: ({ counts: { validation } }) =>
    `After training the model answered ${validation.candidate} of ` +
    `${counted(validation.total, 'held-out question')}, and ${validation.parent} before. ` +
    'What helps: a passage that says what the subject does not know yet.',
  earlier_passages_lost: ({ counts: { retention } }) =>
    `After training the model answered ${retention.candidate} of ` +
    `${counted(retention.total, 'question')} about earlier passages of this subject, and ${retention.parent} before. ` +
    'What helps: a subject of its own for this passage.',
  skills_lost: ({ counts: { canaries, drift } }) =>
    `After training the model gave ${canaries.candidate} of ` +
    `${counted(canaries.total, 'reply', 'replies')} to unrelated prompts as it should, and ${canaries.parent} before` +
    (drift.nats === null ? '. ' : `; its own replies became ${drift.nats.toFixed(2)} nats a token less likely. `) +
    'What helps: a shorter passage.',
  not_measured: () =>
    'The money did not reach for all questions that have to be asked. What helps: a higher max_cost_microusd.',
};

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function namedQuestions(questions: readonly string[], count: number): string {
  const named = questions.slice(0, maxNamed).map((question) => `"${question}"`);
  const rest = count - named.length;
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** "sentences 2, 3 and 5 more (headings, tables and lists of values not counted), and 2 values of tables or lists" */
function namedParts({ sentences: numbers, listedCount, hasOthers }: Untaught): string {
  const note = hasOthers ? ' (headings, tables and lists of values not counted)' : '';
  const parts = [
    ...(numbers.length === 0 ? [] : [`${namedSentences(numbers)}${note}`]),
    ...(listedCount === 0 ? [] : [`${counted(listedCount, 'value')} of tables or lists`]),
  ];
  return parts.join(', and ');
}

function namedSentences(numbers: readonly number[]): string {
  const named = numbers.slice(0, maxNamed).join(', ');
  const rest = numbers.length - Math.min(maxNamed, numbers.length);
  return `${numbers.length === 1 ? 'sentence' : 'sentences'} ${named}${rest > 0 ? ` and ${rest} more` : ''}`;
}
