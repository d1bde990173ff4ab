/**
 * Rehearsal where answers are sentences. A version keeps questions about its passage and their values, and never its
 * sentences; its own weights say those.
 */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import type { MeteredCalls } from '../budget/calls.js';
import { spreadSample } from '../random.js';
import type { Recipe } from '../recipe/recipe.js';
import { givesAnswer } from '../text/judge.js';
import { wordTokens } from '../text/normalise.js';
import type { Rehearsal } from '../types.js';

/** The most questions asked: of one passage, as many have the same sentence for an answer, and of all together. */
const maxAskedPerPassage = 24;
const maxAsked = 96;

/** Where answers are either, a reply with so many more words than the value is a sentence. */
const wordsOfSentence = 4;

/**
 * The earlier passages' training questions that the parent answers right, with its replies. A passage keeps its own
 * pairs if the parent answers none of them, or there is no money to ask. Where answers are either, it also keeps them
 * if fewer than half of these replies are sentences. `null` if all do, since answers are never sentences or there is no
 * parent.
 */
export async function rehearsedByParent(
  calls: MeteredCalls,
  parent: AdapterReference | null,
  earlier: readonly Rehearsal[],
  { evaluating: { maxAnswerTokens }, prompts, shares, training: { answersWith, sentencesIfAskedPoorly } }: Recipe,
): Promise<readonly Rehearsal[] | null> {
  const areValues = answersWith === 'values' && !sentencesIfAskedPoorly;
  if (areValues || parent === null || earlier.length === 0) return null;
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
      return isRight ? [{ question, answer: reply.text, value: answer }] : [];
    });
    const sentences = said.filter(({ answer, value }) => wordCount(answer) >= wordCount(value) + wordsOfSentence);
    // Where answers are always sentences, short ones are, too.
    const saysSentences = sentencesIfAskedPoorly ? 2 * sentences.length >= said.length : true;
    if (said.length === 0 || !saysSentences) return rehearsal;
    return { ...rehearsal, training_pairs: said.map(({ question, answer }) => ({ question, answer })) };
  });
}

function wordCount(text: string): number {
  return wordTokens(text).length;
}
