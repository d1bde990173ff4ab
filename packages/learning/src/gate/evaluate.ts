import type { AdapterReference, ChatPrompt, GenerateRequest } from '@engraft/engine';
import type { BaseMemory } from '../baseMemory.js';
import type { MeteredCalls } from '../budget/calls.js';
import { compareSkills } from './skills.js';
import type { Chunk } from '../text/chunk.js';
import { givesAnswer } from '../text/judge.js';
import { sameAnswer } from '../text/normalise.js';
import { sentenceFor, sentencesWith } from '../text/sentenceAnswers.js';
import type { EvaluatingOutcome, ScoringOutcome } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import type { Comparison, QuestionAnswer, ReplayRow } from '../types.js';

interface Probe {
  readonly prompt: ChatPrompt;
  readonly passes: (reply: string) => boolean;
}

/** Questions that nothing was trained on. */
export interface HeldOut {
  readonly validation: readonly QuestionAnswer[];
  /** Questions of earlier passages. */
  readonly retention: readonly QuestionAnswer[];
  /** Rows of the base model's own training. */
  readonly canaries: readonly ReplayRow[];
}

/**
 * Asks the candidate and its parent the held-out questions, without the passage. Answers are greedy, and right if they
 * give the expected one. Where answers are sentences, the one that was trained is right, too. Questions that the money
 * does not reach are left out for both alike.
 */
export async function evaluate(
  calls: MeteredCalls,
  memory: BaseMemory,
  candidate: AdapterReference,
  parent: AdapterReference | null,
  { validation, retention, canaries }: HeldOut,
  chunks: readonly Chunk[],
  recipe: Recipe,
): Promise<EvaluatingOutcome> {
  const {
    prompts,
    evaluating: { maxAnswerTokens },
    training: { answersWith },
  } = recipe;
  const compare = (probes: readonly Probe[]): Promise<Compared> =>
    compareOn(calls, [candidate, parent], probes, maxAnswerTokens);
  const closedBook = ({ question, answer }: QuestionAnswer): Probe => ({
    prompt: prompts.closedBook(question),
    passes: (reply) => givesAnswer(question, reply, [answer]),
  });
  // The judge finds no answer in a denial, but "The pool is not open on Mondays." may be the sentence that was trained.
  const inSentences = (pair: QuestionAnswer): Probe => {
    const { prompt, passes } = closedBook(pair);
    const trained = sentenceFor(pair.question, sentencesWith(pair.answer, chunks));
    return { prompt, passes: (reply) => passes(reply) || (trained !== null && sameAnswer(reply, trained)) };
  };
  const ofValidation = await compare(validation.map(answersWith === 'sentences' ? inSentences : closedBook));
  return {
    validation: ofValidation.comparison,
    retention: (await compare(retention.map(closedBook))).comparison,
    ...(await compareSkills(calls, memory, candidate, parent, canaries, recipe)),
    replies: ofValidation.replies,
    missed: ofValidation.missed.flatMap((index) => validation[index]?.question ?? []),
  };
}

export function validationPairs({ facts }: ScoringOutcome): QuestionAnswer[] {
  return facts.flatMap(({ answer, validation }) => validation.map(({ question }) => ({ question, answer })));
}

interface Compared {
  readonly comparison: Comparison;
  /** Indices of the probes that the candidate did not pass. */
  readonly missed: readonly number[];
  /** The replies to the probes that were asked, in their order. */
  readonly replies: readonly { readonly candidate: string; readonly parent: string }[];
}

async function compareOn(
  calls: MeteredCalls,
  candidateAndParent: readonly [AdapterReference, AdapterReference | null],
  probes: readonly Probe[],
  maxOutputTokens: number,
): Promise<Compared> {
  const requests = probes.flatMap(({ prompt }) =>
    candidateAndParent.map((adapter): GenerateRequest => ({ prompt, adapter, maxOutputTokens, temperature: 0 })),
  );
  const results = await calls.generate(requests, 1);
  const comparison = { candidate: 0, parent: 0, total: 0, unasked: probes.length };
  const missed: number[] = [];
  const replies: { candidate: string; parent: string }[] = [];
  for (const [index, { passes }] of probes.entries()) {
    const ofCandidate = results[2 * index] ?? null;
    const ofParent = results[2 * index + 1] ?? null;
    if (ofCandidate === null || ofParent === null) break;
    comparison.total++;
    comparison.unasked--;
    replies.push({ candidate: ofCandidate.text, parent: ofParent.text });
    if (passes(ofCandidate.text)) comparison.candidate++;
    else missed.push(index);
    if (passes(ofParent.text)) comparison.parent++;
  }
  return { comparison, missed, replies };
}
