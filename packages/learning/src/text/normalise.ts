/** Decides when two answers, or two questions, count as the same. */
import { memoised } from './memoised.js';
import { numbersInDigits } from './english/numberWords.js';

/**
 * Removes case, punctuation, leading articles, thousands separators and extra white space, and writes numbers in
 * digits, like SQuAD's evaluation script (Rajpurkar et al., 2016). Unlike there, articles inside an answer stay
 * ("Vitamin A"). Decimal points, clock colons, minus signs, currency signs and per cent keep their meaning, and decimal
 * commas become points. Idempotent.
 */
export function normalise(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replace(/['’‘`´]/gu, '')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/gu, '')
    .replace(/,(?<=(?<![\d,])\d+,)(?=\d{1,2}(?!\d|,\d))/gu, '.')
    .replace(/(?<=(?<!\p{L})\p{L})\.(?=\p{L}(?!\p{L}))/gu, '')
    .replace(/%|\bper cent\b/gu, ' percent ')
    .replace(/(?<![\p{L}\p{N}])[−–](?=\d)/gu, '-')
    .replace(/(?!(?<=\d)[.:](?=\d)|(?<![\p{L}\p{N}])-(?=\d)|(?<=\p{L})#)[\p{P}\s]+?/gu, ' ')
    .replace(/ +/gu, ' ')
    .trim()
    .replace(/^(?:(?:a|an|the) )+/u, '');
  return numbersInDigits(words);
}

export function sameAnswer(a: string, b: string): boolean {
  return normalise(a) === normalise(b);
}

/** The lower-case words of a text, numbers included, in order, without punctuation. */
export function wordTokens(text: string): readonly string[] {
  // Names and words are asked for again and again. There would be too many whole sentences to keep.
  return text.length > maxKnownLength ? cut(text) : memoised(knownTokens, text, () => cut(text));
}

const maxKnownLength = 64;
const knownTokens = new Map<string, readonly string[]>();

function cut(text: string): readonly string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of wordSegmenter.segment(text.normalize('NFKC').toLowerCase())) {
    if (isWordLike === true) words.push(segment);
  }
  return words;
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Whether the words of `part` stand in `whole` in one run. An empty `part` is in nothing. */
export function containsWords(whole: string, part: string): boolean {
  return wordsWithin(whole)(part);
}

/** Does the same for many parts of one text, which is split into words once. */
export function wordsWithin(whole: string): (part: string) => boolean {
  const padded = ` ${wordTokens(whole).join(' ')} `;
  return (part) => {
    const words = wordTokens(part);
    return words.length > 0 && padded.includes(` ${words.join(' ')} `);
  };
}

/**
 * Whether they are equal, or one is the other with up to three more words and the same numbers: "1.2 kilograms" and
 * "1.2".
 */
export function agrees(answer: string, expected: string): boolean {
  if (normalise(answer) === normalise(expected)) return true;
  if (!containsWords(answer, expected) && !containsWords(expected, answer)) return false;
  const numbers = (text: string): string =>
    normalise(text)
      .split(' ')
      .filter((word) => /\d/u.test(word))
      // "$49" is 49, but "-20" is not 20.
      .map((word) => word.replace(/^[^\p{L}\p{N}-]+/u, ''))
      .join(' ');
  return (
    Math.abs(wordTokens(answer).length - wordTokens(expected).length) <= 3 && numbers(answer) === numbers(expected)
  );
}
