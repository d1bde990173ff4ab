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

/** The most questions asked: of one passage, as many have the same sentence for an answer, and of all together. */
const maxAskedPerPassage = 24;
const maxAsked = 96;

/**
 * The earlier passages' training questions that the parent answers right, with its replies. A passage keeps its own
 * pairs if the parent answers none of them, or there is no money to ask. `null` if all do, since answers are values or
 * there is no parent.
 */
export async function rehearsedByParent(
  calls: MeteredCalls,
  parent: AdapterReference | null,
  earlier: readonly Rehearsal[],
  { evaluating: { maxAnswerTokens }, prompts, shares, training: { answersWith } }: Recipe,
): Promise<readonly Rehearsal[] | null> {
  if (answersWith === 'values' || parent === null || earlier.length === 0) return null;
  const perPassage = Math.min(maxAskedPerPassage, Math.max(1, Math.floor(maxAsked / earlier.length)));
  const asked = earlier.map(({ training_pairs }) => spreadSample(training_pairs, perPassage));
  const requests = asked.flat().map(({ question }): GenerateRequest => {
    return { prompt: prompts.closedBook(question), adapter: parent, maxOutputTokens: maxAnswerTokens, temperature: 0 };
  });
  const replies = (await calls.generate(requests, shares.scoring)).values();
  return earlier.map((rehearsal, index) => {
    const said = (asked[index] ?? []).flatMap(({ question, answer }) => {
      const reply = replies.next().value ?? null;
      const isRight = reply?.finishReason === 'stop' && givesAnswer(question, reply.text, [answer]);
      return isRight ? [{ question, answer: reply.text }] : [];
    });
    return said.length > 0 ? { ...rehearsal, training_pairs: said } : rehearsal;
  });
}
