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
    const judged = await judge(asking, others, round);
    if (judged === null) return false;
    well += judged.filter(Boolean).length;
    others = others.filter((_, index) => judged[index] !== true);
  }
  return well >= wanted;
}

/** Judges one question of each fact. `null` if there is no money for any. */
async function judge(
  { calls, passage, recipe, adapter }: Asking,
  facts: readonly Fact[],
  round: number,
): Promise<boolean[] | null> {
  const requests = await mapConcurrently(facts, async ({ answer, chunk, forms }): Promise<ScoreCall | null> => {
    const form = forms.filter((each) => !isOnlyTrained(each))[round];
    if (form === undefined) return null;
    const prompt = recipe.prompts.ask(passage.chunks[chunk]?.text ?? '', answer);
    return { sequence: await calls.engine.encode(prompt, form.question), adapter, topK: 0 };
  });
  const asked = requests.filter((request) => request !== null);
  const scores = await calls.score(asked, recipe.shares.teaching);
  if (asked.length > 0 && scores.every((score) => score === null)) return null;
  const ofRequest = new Map(asked.map((request, index) => [request, scores[index] ?? null]));
  return requests.map((request) => {
    const score = request === null ? null : (ofRequest.get(request) ?? null);
    // In total, as a copy of the sentence is likely word by word, and nobody asks so.
    return score !== null && sum(score.logprobs) >= settings.wellAskedLogprob;
  });
}

function isTold({ chunk, sentenceStart }: Fact, { chunks, told }: Asking['passage']): boolean {
  const sentence = chunks[chunk]?.sentences.find(({ start }) => start === sentenceStart);
  return sentence !== undefined && told?.has(sentence.text.trim()) === true;
}
