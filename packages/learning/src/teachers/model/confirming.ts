/**
 * Reads questions back. Each is asked again with the passage, and is kept if the answer is the same. If the answer is
 * something else that the chunk says, the question asks for that instead.
 */
import type { GenerateRequest, GenerateResult } from '@engraft/engine';
import { questionKey, type Fact, type Form } from '../../facts.js';
import { deriveSeed } from '../../random.js';
import { givesAnswer } from '../../text/judge.js';
import { agrees, containsWords, normalise } from '../../text/normalise.js';
import type { Chunk } from '../../text/chunk.js';
import { bareAnswer, isAnswer, sentenceStartOf } from './answers.js';
import { askFor, formOf, type Asking } from './asking.js';
import { modelTeacherSettings as settings } from './settings.js';

/**
 * Reads all questions back, and asks again about facts that are left with few. It goes over the facts in rounds, so
 * that the money ends evenly. What was not read back is not trusted.
 */
export async function confirmFacts(asking: Asking, facts: readonly Fact[]): Promise<Fact[]> {
  const confirmed = new Map(facts.map((fact) => [keyOf(fact.chunk, fact.answer), { ...fact, forms: [] as Form[] }]));
  await readBack(asking, facts, confirmed);
  await readBack(asking, await askAgain(asking, [...confirmed.values()]), confirmed);
  return [...confirmed.values()].map((fact) => ({ ...fact, forms: distinct(fact.forms) }));
}

/** Adds the forms that were answered to `confirmed`, by `keyOf`, including facts that nobody asked for. */
async function readBack(
  { calls, passage, recipe, adapter }: Asking,
  facts: readonly Fact[],
  confirmed: Map<string, Fact>,
): Promise<void> {
  const asked = eachQuestionOnce(facts);
  const requests = asked.map(({ fact, form }): GenerateRequest => ({
    prompt: recipe.prompts.reading(passage.chunks[fact.chunk]?.text ?? '', form.question),
    adapter,
    maxOutputTokens: recipe.teaching.maxAnswerTokens,
    temperature: 0,
    wantsLogprob: true,
  }));
  const results = await calls.generate(requests, recipe.shares.scoring);
  for (const [index, { fact, form }] of asked.entries()) {
    const read = readingOf(results[index] ?? null);
    const answered = read === null ? null : answeredFact(fact, form, read, passage.chunks[fact.chunk], confirmed);
    if (answered === null) continue;
    confirmed.set(keyOf(answered.chunk, answered.answer), { ...answered, forms: [...answered.forms, form] });
  }
}

/** Goes over the facts in rounds. A question that several facts share is read once, as it has one answer. */
function eachQuestionOnce(facts: readonly Fact[]): { readonly fact: Fact; readonly form: Form }[] {
  const most = Math.max(0, ...facts.map(({ forms }) => forms.length));
  const inRounds = Array.from({ length: most }, (_, round) => round).flatMap((round) =>
    facts.flatMap((fact) => {
      const form = fact.forms[round];
      return form === undefined ? [] : [{ fact, form }];
    }),
  );
  const first = new Map<string, (typeof inRounds)[number]>();
  for (const each of inRounds) {
    const key = `${each.fact.chunk} ${questionKey(each.form.question)}`;
    if (!first.has(key)) first.set(key, each);
  }
  return [...first.values()];
}

/** Asks again about facts that have some questions, but fewer than `enoughQuestions`. */
async function askAgain(asking: Asking, facts: readonly Fact[]): Promise<Fact[]> {
  const poor = facts.filter(({ forms }) => forms.length > 0 && distinct(forms).length < settings.enoughQuestions);
  const wanted = Array.from({ length: settings.askedAgain }, (_, round) => round).flatMap((round) =>
    poor.map((fact) => ({ fact, round })),
  );
  const { questions } = await askFor(
    asking,
    wanted.map(({ fact: { chunk, answer }, round }) => ({
      chunk,
      answer,
      isGreedy: false,
      seed: deriveSeed(round, 'ask again', chunk, answer),
    })),
    asking.recipe.shares.scoring,
  );
  return poor.map((fact) => ({
    ...fact,
    forms: distinct(
      questions.flatMap((question, at) => {
        const form = question === null || wanted[at]?.fact !== fact ? null : formOf(fact.answer, question, 'asked');
        return form === null ? [] : [form];
      }),
    ),
  }));
}

/** The answer to the question, or `null` if the model wavers or does not come to an end. */
function readingOf(result: GenerateResult | null): string | null {
  if (result?.finishReason !== 'stop' || (result.logprob ?? 0) < settings.minReadingLogprob) return null;
  return bareAnswer(result.text);
}

/** The fact that has the answer; else the one that was asked for, if it says the same; else a new one. */
function answeredFact(
  fact: Fact,
  { question }: Form,
  read: string,
  chunk: Chunk | undefined,
  facts: ReadonlyMap<string, Fact>,
): Fact | null {
  const known = facts.get(keyOf(fact.chunk, read));
  if (known !== undefined && !containsWords(question, known.answer)) return known;
  if (isSame(question, read, fact.answer)) return facts.get(keyOf(fact.chunk, fact.answer)) ?? null;
  if (chunk === undefined || !isAnswer(read, chunk) || containsWords(question, read)) return null;
  return { ...fact, answer: read, sentenceStart: sentenceStartOf(chunk, read), salience: 0, forms: [] };
}

function keyOf(chunk: number, answer: string): string {
  return `${chunk} ${normalise(answer)}`;
}

function distinct(forms: readonly Form[]): Form[] {
  return [...new Map(forms.map((form) => [questionKey(form.question), form])).values()];
}

function isSame(question: string, read: string, answer: string): boolean {
  return agrees(read, answer) || givesAnswer(question, read, [answer]);
}
