/**
 * Rehearsal where answers are sentences. A version keeps questions about its passage and their values, and never its
 * sentences; its own weights say those.
 */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import type { MeteredCalls } from '../budget/calls.js';
import { spreadSample } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import { givesAnswer, saysAnswer } from '../text/judge.js';
import type { Rehearsal } from '../types.js';

/** No passage has more than this share of the questions that are asked. */
const greatestShare = 1 / 4;

/**
 * The earlier passages' training questions that the parent answers right, with its replies. A passage keeps its own
 * pairs if it is answered with values, or the parent answers none of them, or there is no money to ask. `null` if all
 * do, since none is answered with sentences or there is no parent.
 */
export async function rehearsedByParent(
  calls: MeteredCalls,
  parent: AdapterReference | null,
  earlier: readonly Rehearsal[],
  { evaluating: { maxAnswerTokens }, prompts, replay: { maxRehearsedQuestions }, shares, training }: Recipe,
): Promise<readonly Rehearsal[] | null> {
  const saysSentences = ({ answers_with = training.answersWith }: Rehearsal): boolean => answers_with === 'sentences';
  const count = earlier.filter(saysSentences).length;
  if (parent === null || count === 0) return null;
  const perPassage = Math.max(1, Math.floor(maxRehearsedQuestions * Math.min(greatestShare, 1 / count)));
  const asked = earlier.map((rehearsal) =>
    saysSentences(rehearsal) ? spreadSample(rehearsal.training_pairs, perPassage) : [],
  );
  const requests = asked.flat().map(({ question }): GenerateRequest => {
    return { prompt: prompts.closedBook(question), adapter: parent, maxOutputTokens: maxAnswerTokens, temperature: 0 };
  });
  const replies = (await calls.generate(requests, shares.scoring)).values();
  return earlier.map((rehearsal, index) => {
    const said = (asked[index] ?? []).flatMap(({ question, answer }) => {
      const reply = replies.next().value ?? null;
      if (reply?.finishReason !== 'stop') return [];
      // A learned sentence may deny something: "The pool is not open on Mondays."
      const isRight = givesAnswer(question, reply.text, [answer]) || saysAnswer(reply.text, [answer]);
      return isRight ? [{ question, answer: reply.text }] : [];
    });
    return said.length === 0 ? rehearsal : { ...rehearsal, training_pairs: said };
  });
}
