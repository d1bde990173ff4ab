/** Runs of a sentence's words that one may ask for where nothing better is listed. */
const maxWords = 3;
const minLetters = 4;
const opening = /^["“'(]+/u;
const closing = /["”'.,;:!?)]+$/u;

/**
 * At most `count` different runs of one to three words, spread over the sentence. A run neither begins nor ends with a
 * short word in lower case, and no mark stands within it. A script without spaces has none.
 */
export function spansOf(sentence: string, count: number): string[] {
  const words = [...sentence.matchAll(/\S+/gu)].map(([text]) => text);
  const lengths = Array.from({ length: maxWords }, (_, index) => index + 1);
  const runs = words
    .flatMap((_, start) => lengths.map((length) => ({ length, run: words.slice(start, start + length) })))
    // At the end of the sentence words are missing.
    .filter(({ length, run }) => run.length === length && mayBeAskedFor(run));
  const texts = runs.map(({ run }) => run.join(' ').replace(opening, '').replace(closing, ''));
  const chosen = Array.from({ length: count }, (_, index) => texts[Math.floor(((index + 0.5) * texts.length) / count)]);
  return [...new Set(chosen.filter((text) => text !== undefined))];
}

function mayBeAskedFor(run: readonly string[]): boolean {
  const [first = ''] = run;
  return isWeighty(first) && isWeighty(run.at(-1) ?? '') && !run.slice(0, -1).some(endsWithMark);
}

function isWeighty(word: string): boolean {
  const bare = word.replace(opening, '').replace(closing, '');
  return bare.length >= minLetters || /^[\p{Lu}\p{N}]/u.test(bare);
}

function endsWithMark(word: string): boolean {
  return closing.test(word);
}
