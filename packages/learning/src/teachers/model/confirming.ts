/**
 * Reading back: each question is asked again with the passage, and stays when it is answered alike. One that is answered
 * with something else that the chunk says asks for that.
 */
import type { AdapterReference, GenerateRequest, GenerateResult } from '@engraft/engine';
import { questionKey, type Fact, type Form } from '../../facts.js';
import type { MeteredCalls } from '../../metering/calls.js';
import type { Recipe } from '../../recipe/recipe.js';
import { givesAnswer } from '../../text/judge.js';
import { agrees, containsWords, normalise } from '../../text/normalise.js';
import type { Chunk } from '../../text/chunk.js';
import type { TaughtPassage } from '../../teaching/teacher.js';
import { isAnswer, sentenceStartOf } from './answers.js';
import { modelTeacherSettings as settings } from './settings.js';

export interface Confirming {
  readonly calls: MeteredCalls;
  readonly passage: TaughtPassage;
  readonly recipe: Recipe;
  readonly adapter: AdapterReference | null;
}

/** In rounds over the facts, so that money ends evenly; what was not read is not trusted. */
export async function confirmFacts(
  { calls, passage, recipe, adapter }: Confirming,
  facts: readonly Fact[],
): Promise<Fact[]> {
  const most = Math.max(0, ...facts.map(({ forms }) => forms.length));
  const asked = Array.from({ length: most }, (_, round) => round).flatMap((round) =>
    facts.flatMap((fact) => {
      const form = fact.forms[round];
      return form === undefined ? [] : [{ fact, form }];
    }),
  );
  const requests = asked.map(({ fact, form }): GenerateRequest => ({
    prompt: recipe.prompts.reading(passage.chunks[fact.chunk]?.text ?? '', form.question),
    adapter,
    maxOutputTokens: recipe.teaching.maxAnswerTokens,
    temperature: 0,
    wantsLogprob: true,
  }));
  const results = await calls.generate(requests, recipe.shares.scoring);
  const confirmed = new Map(facts.map((fact) => [keyOf(fact.chunk, fact.answer), { ...fact, forms: [] as Form[] }]));
  for (const [index, { fact, form }] of asked.entries()) {
    const read = readingOf(results[index] ?? null);
    if (read === null) continue;
    const answered = answeredFact(fact, form, read, passage.chunks[fact.chunk], confirmed);
    if (answered === null) continue;
    confirmed.set(keyOf(answered.chunk, answered.answer), { ...answered, forms: [...answered.forms, form] });
  }
  return [...confirmed.values()].map((fact) => ({ ...fact, forms: distinct(fact.forms) }));
}

/** What the question was answered with; `null` where the model wavers, or did not come to an end. */
function readingOf(result: GenerateResult | null): string | null {
  if (result?.finishReason !== 'stop' || (result.logprob ?? 0) < settings.minReadingLogprob) return null;
  return result.text.trim().replace(/[.,;:]+$/u, '');
}

/** The fact that has the answer, else the one that was asked for if it says the same, else a new one. */
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
