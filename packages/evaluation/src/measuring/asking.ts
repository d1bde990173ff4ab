import type { AdapterReference, CallOptions, ChatPrompt, Engine } from '@engraft/engine';
import { givesAnswer, mapConcurrently } from '@engraft/learning/parts';

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

export interface AskingOptions extends CallOptions {
  readonly maxAnswerTokens: number;
}

/** Greedy answers, as the pipeline's own evaluation asks. */
export function ask(
  engine: Engine,
  prompts: readonly ChatPrompt[],
  adapter: AdapterReference | null,
  { maxAnswerTokens: maxOutputTokens, ...options }: AskingOptions,
): Promise<string[]> {
  return mapConcurrently(prompts, async (prompt) => {
    const request = { prompt, adapter, maxOutputTokens, temperature: 0 };
    return (await engine.generate(request, options)).text;
  });
}

export function isRight({ question, answers }: AskedPhrasing, given: string): boolean {
  return givesAnswer(question, given, answers);
}

export function tally(asked: readonly AskedPhrasing[], given: readonly string[]): Tally {
  const right = asked.filter((phrasing, index) => isRight(phrasing, given[index] ?? '')).length;
  return { right, total: asked.length };
}
