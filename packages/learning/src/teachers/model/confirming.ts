/** Reading back: each question is asked again with the passage, and stays when it is answered alike. */
import type { AdapterReference, GenerateRequest } from '@engraft/engine';
import type { Fact } from '../../facts.js';
import type { MeteredCalls } from '../../metering/calls.js';
import type { Recipe } from '../../recipe/recipe.js';
import { givesAnswer } from '../../text/judge.js';
import { agrees } from '../../text/normalise.js';
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
  const confirmed = new Set(
    asked.flatMap(({ fact, form }, index) => {
      const result = results[index] ?? null;
      const isWhole = result?.finishReason === 'stop';
      return isWhole && isSame(form.question, result.text, fact.answer) ? [form] : [];
    }),
  );
  return facts.map((fact) => ({ ...fact, forms: fact.forms.filter((form) => confirmed.has(form)) }));
}

function isSame(question: string, read: string, answer: string): boolean {
  return agrees(read, answer) || givesAnswer(question, read, [answer]);
}
