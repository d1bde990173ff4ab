/**
 * Reading back: each question is asked again with the passage, and stays when it is answered alike. One that is answered
 * with what another fact of the chunk says asks for that one.
 */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import { questionKey, type Fact, type Form } from '../../facts.js';
import type { MeteredCalls } from '../../metering/calls.js';
import type { Recipe } from '../../recipe/recipe.js';
import { givesAnswer } from '../../text/judge.js';
import { agrees, containsWords, normalise } from '../../text/normalise.js';
import type { TaughtPassage } from '../../teaching/teacher.js';

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
  }));
  const results = await calls.generate(requests, recipe.shares.scoring);
  const byAnswer = new Map(facts.map((fact) => [keyOf(fact.chunk, fact.answer), fact]));
  const confirmed = new Map<Fact, Form[]>(facts.map((fact) => [fact, []]));
  for (const [index, { fact, form }] of asked.entries()) {
    const result = results[index] ?? null;
    if (result?.finishReason !== 'stop') continue;
    const meant = byAnswer.get(keyOf(fact.chunk, result.text));
    const isMeant = meant !== undefined && !containsWords(form.question, meant.answer);
    const right = isMeant ? meant : isSame(form.question, result.text, fact.answer) ? fact : null;
    if (right !== null) confirmed.get(right)?.push(form);
  }
  return facts.map((fact) => ({ ...fact, forms: distinct(confirmed.get(fact) ?? []) }));
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
