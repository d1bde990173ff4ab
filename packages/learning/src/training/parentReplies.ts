/**
 * Rehearsal where answers are sentences. A version keeps questions about its passage and their values, and never its
 * sentences; its own weights say those.
 */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import type { MeteredCalls } from '../budget/calls.js';
import { spreadSample } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import { givesAnswer } from '../text/judge.js';
import type { Rehearsal } from '../types.js';

/** Questions of one earlier passage that are asked: each costs a reply, and many have the same. */
const maxAskedPerPassage = 24;

/**
 * Of the earlier passages' training questions those that the parent answers right, with its replies. Where answers are
 * values, it answers none, or there is no money to ask, they stay as they are.
 */
export async function withParentReplies(
  calls: MeteredCalls,
  parent: AdapterReference | null,
  earlier: readonly Rehearsal[],
  { evaluating: { maxAnswerTokens }, prompts, shares, training: { answersWith } }: Recipe,
): Promise<readonly Rehearsal[]> {
  if (answersWith === 'values' || parent === null) return earlier;
  const asked = earlier.map(({ training_pairs }) => spreadSample(training_pairs, maxAskedPerPassage));
  const requests = asked.flat().map(({ question }): GenerateRequest => {
    return { prompt: prompts.closedBook(question), adapter: parent, maxOutputTokens: maxAnswerTokens, temperature: 0 };
  });
  const replies = (await calls.generate(requests, shares.training)).values();
  return earlier.map((rehearsal, index) => {
    const said = (asked[index] ?? []).flatMap(({ question, answer }) => {
      const reply = replies.next().value ?? null;
      const isRight = reply?.finishReason === 'stop' && givesAnswer(question, reply.text, [answer]);
      return isRight ? [{ question, answer: reply.text }] : [];
    });
    return said.length > 0 ? { ...rehearsal, training_pairs: said } : rehearsal;
  });
}
