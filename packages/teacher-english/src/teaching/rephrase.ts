import type { GenerateRequest } from '@engraft/engine';
import type { QuestionAnswer, Recipe } from '@engraft/learning';
import { deriveSeed, questionIn, questionKey, type MeteredCalls } from '@engraft/learning/parts';
import { rules } from '../rules.js';
import { isQuestion, keepsNames } from './wellFormed.js';

export function rephraseRequest({ prompts }: Recipe, question: string, seed: number): GenerateRequest {
  return {
    prompt: prompts.rephrase(question, null),
    adapter: null,
    maxOutputTokens: rules.maxQuestionTokens,
    temperature: rules.rephraseTemperature,
    seed,
  };
}

/** Samples up to `count` different rephrasings of each question, which may be trained with its answer. */
export async function rephrasingsOf(
  calls: MeteredCalls,
  pairs: readonly QuestionAnswer[],
  count: number,
  seed: number,
  recipe: Recipe,
): Promise<string[][]> {
  const rounds = Array.from({ length: count }, (_, round) => round);
  const requests = pairs.flatMap(({ question, answer }) =>
    rounds.map((round) => rephraseRequest(recipe, question, deriveSeed(seed, 'rephrase', round, question, answer))),
  );
  const results = await calls.generate(requests, recipe.shares.teaching);
  return pairs.map(({ question, answer }, index) => {
    const different = new Map<string, string>();
    for (const result of results.slice(index * count, (index + 1) * count)) {
      const text = result?.finishReason === 'stop' ? questionIn(result.text) : '';
      if (isQuestion(text, answer) && keepsNames(question, text, answer)) different.set(questionKey(text), text);
    }
    different.delete(questionKey(question));
    return [...different.values()];
  });
}
