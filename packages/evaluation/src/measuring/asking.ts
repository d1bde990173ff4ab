import type { AdapterReference, CallOptions, ChatPrompt, Engine } from '@engraft/engine';
import { containsWords, givesAnswer, mapConcurrently, scoreAnswer, wordTokens } from '@engraft/learning/parts';
import { declines } from './declining.js';

/** Counts of questions, of right answers, and sums of SQuAD's measures. It is written to files, hence the names. */
export interface Tally {
  readonly right: number;
  readonly total: number;
  /** Answers that match exactly, and the sum of token F1 over all of them, see `scoreAnswer`. */
  readonly exact: number;
  readonly f1_sum: number;
  /** Wrong answers that say that the answer is not known. The other wrong answers give wrong values. */
  readonly declined: number;
  /** The wrong values that repeat the passage. What they say is true, but beside the point. */
  readonly quoted: number;
}

export const noTally: Tally = { right: 0, total: 0, exact: 0, f1_sum: 0, declined: 0, quoted: 0 };

export function addTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(
    (sum, { right, total, exact, f1_sum, declined, quoted }) => ({
      right: sum.right + right,
      total: sum.total + total,
      exact: sum.exact + exact,
      f1_sum: sum.f1_sum + f1_sum,
      declined: sum.declined + declined,
      quoted: sum.quoted + quoted,
    }),
    noTally,
  );
}

/** The shares of a tally: means over the questions, from 0 to 1. */
export interface Shares {
  readonly right: number;
  readonly exact: number;
  readonly f1: number;
}

/** `null` if nothing was asked. */
export function sharesOf({ right, total, exact, f1_sum }: Tally): Shares | null {
  return total === 0 ? null : { right: right / total, exact: exact / total, f1: f1_sum / total };
}

/** `null` if nothing was asked. */
export function shareOf(tally: Tally): number | null {
  return sharesOf(tally)?.right ?? null;
}

/** The share of questions that get a wrong value for an answer, from 0 to 1. `null` if nothing was asked. */
export function wrongShareOf({ right, declined, total }: Tally): number | null {
  return total === 0 ? null : (total - right - declined) / total;
}

/** The share of questions that get a true sentence for an answer that does not answer them. `null` as above. */
export function quotedShareOf({ quoted, total }: Tally): number | null {
  return total === 0 ? null : quoted / total;
}

/** One phrasing of one question of a passage. */
export interface AskedPhrasing {
  readonly question: string;
  readonly answers: readonly string[];
}

export interface AskingOptions extends CallOptions {
  readonly maxAnswerTokens: number;
}

/** Asks for greedy answers, as the pipeline's own evaluation does. */
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

/** A shorter repetition of the passage is a value, which may be false of what was asked. */
const minQuotedWords = 5;

/** `passage` is what was learned before. */
export function tally(asked: readonly AskedPhrasing[], given: readonly string[], passage = ''): Tally {
  return addTallies(
    asked.map((phrasing, index) => {
      const text = given[index] ?? '';
      const { exact, f1 } = scoreAnswer(text, phrasing.answers);
      const right = isRight(phrasing, text);
      const declined = !right && declines(text);
      const quoted = !right && !declined && quotes(passage, text);
      return {
        right: Number(right),
        total: 1,
        exact: Number(exact),
        f1_sum: f1,
        declined: Number(declined),
        quoted: Number(quoted),
      };
    }),
  );
}

function quotes(passage: string, given: string): boolean {
  return wordTokens(given).length >= minQuotedWords && containsWords(passage, given);
}
