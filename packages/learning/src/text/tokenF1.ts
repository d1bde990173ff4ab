/**
 * Exact match and token F1 as SQuAD's evaluation script computes them (Rajpurkar et al., 2016, section 6), so that our
 * figures compare with published ones. `givesAnswer`, not this, decides whether something was learned.
 */

export interface AnswerScore {
  /** Equal to an accepted answer after normalisation. */
  readonly exact: boolean;
  /** The harmonic mean of the words' precision and recall, from 0 to 1; the best over the accepted answers. */
  readonly f1: number;
}

export function scoreAnswer(given: string, accepted: readonly string[]): AnswerScore {
  const words = scriptWords(given);
  const text = words.join(' ');
  const others = accepted.map(scriptWords);
  return {
    exact: others.some((other) => other.join(' ') === text),
    f1: Math.max(0, ...others.map((other) => wordF1(words, other))),
  };
}

/** Articles and punctuation alone leave nothing. Two such answers are equal, as in the script's version 2. */
function wordF1(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length === b.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of b) {
    const count = left.get(word) ?? 0;
    if (count > 0) shared += 1;
    left.set(word, count - 1);
  }
  return (2 * shared) / (a.length + b.length);
}

/** Lower-cases, removes punctuation, then articles, then splits at white space, in the order of the script. */
function scriptWords(text: string): string[] {
  const words = text.toLowerCase().replace(punctuation, '').replace(articles, ' ').trim();
  return words === '' ? [] : words.split(/\s+/u);
}

/** ASCII punctuation only. No space takes its place, so "well-known" becomes one word. */
const punctuation = /[!-/:-@[-`{-~]/gu;
/** Python's `\b` knows the letters of all languages. */
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;
