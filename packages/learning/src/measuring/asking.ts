import type { AdapterReference, CallOptions, ChatPrompt, Engine } from '@engraft/engine';
import { mapConcurrently } from '../calls.js';
import { sameAnswer } from '../normalise.js';
import { recipe } from '../recipe.js';

/** How many of so many questions were answered right. */
export interface Tally {
  readonly right: number;
  readonly total: number;
}

export const noTally: Tally = { right: 0, total: 0 };

export function addTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce((sum, { right, total }) => ({ right: sum.right + right, total: sum.total + total }), noTally);
}

/** `null` of nothing asked. */
export function shareOf({ right, total }: Tally): number | null {
  return total === 0 ? null : right / total;
}

/** One phrasing of one question of a passage. */
export interface AskedPhrasing {
  readonly question: string;
  readonly answers: readonly string[];
}

/** Greedy answers, as the pipeline's own evaluation asks. */
export function ask(
  engine: Engine,
  prompts: readonly ChatPrompt[],
  adapter: AdapterReference | null,
  options: CallOptions,
): Promise<string[]> {
  return mapConcurrently(prompts, async (prompt) => {
    const request = { prompt, adapter, maxOutputTokens: recipe.maxAnswerTokens, temperature: 0 };
    return (await engine.generate(request, options)).text;
  });
}

/** An answer is right when it is one of the accepted ones by the pipeline's own matcher. */
export function isRight(given: string, answers: readonly string[]): boolean {
  return answers.some((answer) => sameAnswer(given, answer));
}

export function tally(asked: readonly AskedPhrasing[], given: readonly string[]): Tally {
  const right = asked.filter(({ answers }, index) => isRight(given[index] ?? '', answers)).length;
  return { right, total: asked.length };
}
