/**
 * Words that a question about a value must have, since without them the sentence says the opposite or another thing.
 * "It was never sold in Japan" does not tell where it was sold, and "300 m higher" is no height.
 */
import { negated, type TextRange } from '@engraft/learning/parts';
import { finiteVerb } from '../spans/statement.js';

/** Where a value stands in its passage. */
interface Place {
  readonly start: number;
  readonly end: number;
}

const clauseBreak = new RegExp(
  [
    '[,;:()]',
    '\\b(?:but|while|whereas|because|although|though)\\b',
    `\\band (?=(?:is|are|was|were|has|had|can|will|${finiteVerb}) )`,
  ].join('|'),
  'u',
);

/** Whether no other clause begins between a word that starts at `at` and the value. */
export function isInClause(at: number, sentence: TextRange, { start, end }: Place): boolean {
  const [from, to] = at < start ? [at, start] : [end, at];
  return !clauseBreak.test(sentence.text.slice(from - sentence.start, to - sentence.start));
}

/**
 * Words that deny what follows them in their clause. "Not far from", "not only" and "No. 5" deny nothing, and
 * "accounts that nobody used" and "who cannot come" only say which ones are meant.
 */
const denial = new RegExp(
  [
    '(?<!\\b(?:that|which|whom) )\\bnobody\\b',
    '(?<!\\bwho (?:(?:is|are|was|were|do|does|did|has|have|had|can) )?)' +
      '\\b(?:not|never|cannot|neither|nor|no(?! (?:\\p{Ll}+ )?than\\b)(?!\\.))' +
      '(?! (?:only|just|merely|far|least)\\b)(?![\\p{L}\\p{N}])',
    "n['’]t\\b",
  ].join('|'),
  'giu',
);
/** "Not until May" and "no more than 20" give the value itself. "No lift and 20 rooms" denies only the lift. */
const limit = /\b(?:until|till|before|unless|than)\b|^no\b.* and /iu;
/** Words that deny only what stands beside them. */
const exception = /\b(?:without|except|instead of|rather than)(?: \p{Ll}+)? $/iu;
/** After "Ada Kell", in "Ada Kell did not build it". */
const deniedPredicate = new RegExp(
  '^ (?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|must|may|might|should)' +
    "(?: (?:not|never|no longer)\\b|n['’]t\\b)|cannot\\b|never\\b|no longer\\b)" +
    '(?! (?:only|just|until|before|far)\\b)',
  'u',
);

function isDenied(sentence: TextRange, place: Place): boolean {
  const before = sentence.text.slice(0, place.start - sentence.start);
  const value = sentence.text.slice(before.length, place.end - sentence.start);
  // "Models made before 2018 cannot" denies nothing of the year.
  const isOpening = !/\d/u.test(value) && deniedPredicate.test(sentence.text.slice(place.end - sentence.start));
  if (isOpening || exception.test(before)) return true;
  return [...before.matchAll(denial)].some(
    ({ index }) => !limit.test(before.slice(index)) && isInClause(sentence.start + index, sentence, place),
  );
}

/** Words of a question that deny, too, or that ask for what was so earlier. */
const asksDenied = new RegExp(
  [
    negated.source,
    '\\b(?:forb[ia]d\\w*|prohibit\\w*|bann?(?:ed)?|off limits|refus\\w*|exclu\\w*|avoid\\w*|keep away|lacks?)\\b',
    '\\b(?:removed|taken out|dropped|earlier|former\\w*|previous\\w*|used to|changed)\\b',
  ].join('|'),
  'iu',
);

const comparative = [
  'more|less|fewer|higher|lower|longer|shorter|taller|wider|narrower|deeper|larger|bigger|smaller|older|younger',
  'cheaper|dearer|heavier|lighter|faster|quicker|slower|earlier|later|nearer|closer|farther|further|warmer|hotter',
  'colder|cooler|stronger|weaker|thicker|thinner|richer|poorer|better|worse',
].join('|');
const compared = new RegExp(`^ (?:${comparative})\\b`, 'u');
const asksCompared = new RegExp(`\\b(?:${comparative}|by (?:how|what))\\b`, 'iu');
const isNumber = /\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\p{Ll}+(?:teen|ty)|half|twice)\b/iu;

/** The patterns of words that every question about the value must have. */
export function neededWords(sentence: TextRange, place: Place): RegExp[] {
  const value = sentence.text.slice(place.start - sentence.start, place.end - sentence.start);
  const isDifference = isNumber.test(value) && compared.test(sentence.text.slice(place.end - sentence.start));
  return [...(isDenied(sentence, place) ? [asksDenied] : []), ...(isDifference ? [asksCompared] : [])];
}

export function hasAll(question: string, needed: readonly RegExp[]): boolean {
  return needed.every((word) => word.test(question));
}
