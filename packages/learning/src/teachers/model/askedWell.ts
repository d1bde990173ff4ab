/** Whether another teacher asks about a passage as the model itself would. */
import { isOnlyTrained, type Fact } from '../../facts.js';
import { mapConcurrently, type ScoreCall } from '../../budget/calls.js';
import { sum } from '../../numbers.js';
import type { Asking } from './asking.js';
import { modelTeacherSettings as settings } from './settings.js';

/**
 * Whether enough facts are asked for in questions that the model finds likely. Rules ask well about plain English, and
 * oddly about other texts ("What is Beyoncé made of?"). A small reader answers the odd ones all the same. What was made
 * of a table or a list counts as asked well. `false` if there is no money to find out.
 */
export async function areAskedWell(asking: Asking, facts: readonly Fact[]): Promise<boolean> {
  const { passage } = asking;
  const wanted = Math.max(1, Math.round(passage.text.length / settings.charsPerWellAsked));
  let well = facts.filter((fact) => isTold(fact, passage)).length;
  let others = facts.filter((fact) => !isTold(fact, passage));
  for (let round = 0; round < settings.judgedForms && well < wanted; round++) {
    const found = await askedWell(asking, others, round);
    well += found.size;
    others = others.filter((fact) => !found.has(fact));
  }
  return well >= wanted;
}

/** The facts of which this question is likely. What there is no money to judge is not among them. */
async function askedWell(
  { calls, passage, recipe, adapter }: Asking,
  facts: readonly Fact[],
  round: number,
): Promise<ReadonlySet<Fact>> {
  const asked = facts.flatMap((fact) => {
    const form = fact.forms.filter((each) => !isOnlyTrained(each))[round];
    return form === undefined ? [] : [{ fact, question: form.question }];
  });
  const requests = await mapConcurrently(asked, async ({ fact: { answer, chunk }, question }): Promise<ScoreCall> => {
    const prompt = recipe.prompts.ask(passage.chunks[chunk]?.text ?? '', answer);
    return { sequence: await calls.engine.encode(prompt, question), adapter, topK: 0 };
  });
  const scores = await calls.score(requests, recipe.shares.teaching);
  // The bound is on the whole question: a copy of the sentence is likely word by word, and nobody asks so.
  const isLikely = (index: number): boolean => sum(scores[index]?.logprobs ?? [-Infinity]) >= settings.wellAskedLogprob;
  return new Set(asked.filter((_, index) => isLikely(index)).map(({ fact }) => fact));
}

function isTold({ chunk, sentenceStart }: Fact, { chunks, told }: Asking['passage']): boolean {
  const sentence = chunks[chunk]?.sentences.find(({ start }) => start === sentenceStart);
  return sentence !== undefined && told?.has(sentence.text.trim()) === true;
}
