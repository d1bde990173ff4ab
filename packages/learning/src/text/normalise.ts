/** Decides when two answers, or two questions, count as the same. */
import { memoised } from './memoised.js';
import { denying } from './english/negation.js';
import { magnitudeWords, numbersInDigits } from './english/numberWords.js';

/**
 * Removes case, punctuation, leading articles, thousands separators and extra white space, and writes numbers in
 * digits, like SQuAD's evaluation script (Rajpurkar et al., 2016). Unlike there, articles inside an answer stay
 * ("Vitamin A"). Decimal points, clock colons, minus signs, fractions, exponents, currencies and per cent keep their
 * meaning, and decimal commas become points. Idempotent.
 */
export function normalise(text: string): string {
  const words = withPlainDigits(text)
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFKC')
    .replace(/['’‘`´]/gu, '')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/gu, '')
    .replace(/,(?<=(?<![\d,])\d+,)(?=\d{1,2}(?!\d|,\d))/gu, '.')
    .replace(/(?<=(?<!\p{L})\p{L})\.(?=\p{L}(?!\p{L}))/gu, '')
    .replace(/[%‰&⁄]/gu, (sign) => signWords.get(sign) ?? sign)
    .replace(/(?<![\p{L}\p{N}])[−–](?=\p{Sc}?\.?\d)|(?<=(?<![\p{L}\p{N}])\p{L})−(?![\p{L}\p{N}])/gu, '-')
    .replace(/(?<=^|[\s\p{Sc}\p{Ps}\p{Pi}"-])\.(?=\d)/gu, '0.')
    .replace(lostMark, ' ')
    .replace(/ +/gu, ' ')
    .trim()
    .replace(/(?<!\S)per (cent|mille)(?!\S)/gu, (_words, part: string) => (part === 'cent' ? 'percent' : 'permille'));
  return withUnits(numbersInDigits(withCounts(withSpaces(words))).replace(/^(?:(?:a|an|the) )+/u, ''));
}

const signWords = new Map([
  ['%', ' percent '],
  ['‰', ' permille '],
  ['&', ' and '],
  // NFKC writes "½" with this one.
  ['⁄', '/'],
]);

/**
 * All punctuation that carries no meaning. What is kept: "9:30", "-20", "-$20", "C#", the mark "A-", and the slash of
 * "3/4", but not the slashes of a date or between years.
 */
const lostMark = new RegExp(
  String.raw`(?!${[
    String.raw`(?<=\d)[.:](?=\d)`,
    String.raw`(?<![\p{L}\p{N}])-(?=\p{Sc}?\d)`,
    String.raw`(?<=\p{L})#`,
    String.raw`(?<=(?<![\p{L}\p{N}])\p{L})-(?![\p{L}\p{N}-])`,
    String.raw`(?<=(?<!\d|\d\/)\d{1,3})\/(?=\d{1,3}(?!\d|\/\d))`,
  ].join('|')})[\p{P}\s]+?`,
  'gu',
);

/** NFKC would write "10²" as "102" and "1½" as "11/2", and make narrow spaces between thousands plain ones. */
function withPlainDigits(text: string): string {
  return text
    .replace(/(?<=\d)([⁺⁻]?)([⁰¹²³⁴-⁹]+)/gu, (_exponent, sign: string, digits: string) => {
      return `^${sign === '⁻' ? '-' : ''}${digits}`;
    })
    .replace(/[¼-¾⅐-⅞↉]/gu, ' $& ')
    .replace(/(?<!\d)\d{1,3}(?:[\u{a0}\u{2009}\u{202f}]\d{3})+(?!\d)/gu, (groups) => groups.replace(/\D/gu, ''));
}

/** Units that are also written right behind a number. One letter may mean something else: "5G", "3D". */
const units =
  'am pm kg mg µg km cm mm nm ml cl lb lbs oz ft mph kph hz khz mhz ghz kw kwh mw gw kb mb gb tb mah min sec'
    .normalize('NFKC')
    .replaceAll(' ', '|');
const beforeUnit = new RegExp(String.raw`(?<=\d)(?=°|(?:${units})(?![\p{L}\p{N}]))`, 'gu');

/** "5kg" as "5 kg", "$5" as "$ 5", "-$5" as "$ -5". */
function withSpaces(words: string): string {
  return words
    .replace(beforeUnit, ' ')
    .replace(/(?<!\S)-([$€£¥])(?=\d)/gu, '$1-')
    .replace(/(?<=\d)(?=[$€£¥])|(?<=(?<![\p{L}-])[$€£¥])(?=-?\d)/gu, ' ');
}

const aMagnitude = new RegExp(String.raw`(?<!\S)(half )?an? (?=(?:${magnitudeWords.join('|')})(?!\S))`, 'gu');

/** "a million" as "1 million". */
function withCounts(words: string): string {
  return words.replace(aMagnitude, (_words, half: string | undefined) => (half === undefined ? '1 ' : '0.5 '));
}

const currencies = new Map([
  ['$', 'dollars'],
  ['€', 'euros'],
  ['£', 'pounds'],
  ['¥', 'yen'],
]);

/** "minus 5" as "-5", "$ 5" as "5 dollars", "5 pm" as "5:00 pm". The numbers are in digits. */
function withUnits(words: string): string {
  return words
    .replace(/(?<!\S)(?<!(?:\d|[$€£¥]|dollars?|euros?|pounds?|yen) )minus ((?:[$€£¥] )?)(?=\d)/gu, '$1-')
    .replace(/(?<=\d )(dollar|euro|pound)(?!\S)/gu, '$1s')
    .replace(
      /(?<!\S)(?<![$€£¥] )([$€£¥]) (-?\d[\d.]*)(?!\S)(?: (?:dollars|euros|pounds|yen)(?!\S))?/gu,
      (_money, sign: string, amount: string) => `${amount} ${currencies.get(sign) ?? sign}`,
    )
    .replace(/(?<=(?<!\S)-?\d[\d.]* )[$€£¥](?!\S| [$€£¥](?!\S))/gu, (sign) => currencies.get(sign) ?? sign)
    .replace(/(?<!\S)\d{1,2}(?= [ap]m(?!\S))/gu, '$&:00');
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
 * "1.2". A word that denies must not be among those: "not heated" is not "heated".
 */
export function agrees(answer: string, expected: string): boolean {
  if (normalise(answer) === normalise(expected)) return true;
  if (!containsWords(answer, expected) && !containsWords(expected, answer)) return false;
  if (denies(answer) !== denies(expected)) return false;
  const values = (text: string): string =>
    normalise(text)
      .split(' ')
      .filter((word) => /\d|-$/u.test(word) || word === 'permille')
      // "$49" is 49, but "-20" is not 20.
      .map((word) => word.replace(/^[^\p{L}\p{N}-]+/u, ''))
      .join(' ');
  return Math.abs(wordTokens(answer).length - wordTokens(expected).length) <= 3 && values(answer) === values(expected);
}

/** "No. 5" is a number. */
function denies(text: string): boolean {
  return denying.test(text) || /(?<![\p{L}\p{N}])no(?![\p{L}\p{N}]|\.? ?\d)/iu.test(text);
}
