/** Quantities, money, dates, times, codes and quotations. */
import { isCommonWord } from '../english/commonWords.js';
import { isFunctionWord, numbersInDigits } from '@engraft/learning/parts';
import type { Found } from './spans.js';
import { unit } from '../english/units.js';
import { isAdjective, isPluralNoun, isVerb } from '../english/wordClasses.js';
import { numberAfter, versionAfter } from './names.js';
import { isFraction, isFrequency, isMeasure, valuePatterns } from './valuePatterns.js';

/** Takes them in the order of `valuePatterns`. */
export function findValues(sentence: string): Found[] {
  return valuePatterns.flatMap(([kind, pattern]) =>
    [...sentence.matchAll(pattern)].flatMap((match): Found[] => {
      const inner = match[1] ?? match[0];
      const start = match.index + match[0].indexOf(inner);
      const isWhole = isFrequency(inner) || isFraction.test(inner) || isMeasure.test(inner);
      const text = kind === 'quantity' && !isWhole ? countOf(inner, sentence, start) : inner;
      const isAmount = kind === 'quantity' || kind === 'money';
      if (
        isCut(sentence, start, text) ||
        (isAmount && isEndOfAmount(sentence, start, text)) ||
        isNumbering(sentence, start, text)
      )
        return [];
      if ((kind === 'quantity' || kind === 'code') && isPartOfName(sentence, match.index, text)) return [];
      return kind === 'quantity' && !worthAsking(text) ? [] : [{ kind, start, text, isSubject: false }];
    }),
  );
}

/** The number that a pattern found, with what it counts or measures. */
function countOf(found: string, sentence: string, start: number): string {
  const text = sentence.slice(start);
  const counted = withoutReference(withoutPredicate(withoutFunctionWords(withoutName(found)), text), sentence, start);
  return withCounted(withCompound(counted, text), sentence, start);
}

/** "7.5" in "7.5 The total liability". A capitalised word is counted only if it is a unit ("8 GB", "20 Euro"). */
function withoutName(quantity: string): string {
  const [, count = '', word = ''] = /^(.*\d) (\p{Lu}\p{Ll}+)$/u.exec(quantity) ?? [];
  return word === '' || unit.test(word.toLowerCase()) ? quantity : count;
}

/** "3" in "Section 3 applies". */
function withoutReference(quantity: string, sentence: string, start: number): string {
  const isReference = reference.test(sentence.slice(Math.max(0, start - 20), start));
  return isReference ? quantity.replace(/ .*$/u, '') : quantity;
}

const reference =
  /(?:\b(?:section|clause|article|chapter|paragraph|figure|table|page|step|annex|appendix|rule|no\.) |§ ?)$/iu;

/**
 * Extends "62 hand" to "62 hand-coloured plates". A hyphenated word is one word: it belongs to what is counted, or it
 * does not.
 */
function withCompound(quantity: string, text: string): string {
  const [, count = ''] = /^(.*[\p{L}\d]) \p{Ll}+$/u.exec(quantity) ?? [];
  const rest = /^(?:-\p{Ll}+)+/u.exec(text.slice(quantity.length))?.[0] ?? '';
  if (count === '' || rest === '') return quantity;
  const noun = /^ (\p{Ll}{3,}s)\b/u.exec(text.slice(quantity.length + rest.length))?.[1] ?? '';
  return noun !== '' && isPluralNoun(noun) ? `${quantity}${rest} ${noun}` : count;
}

/** "7.5" before "The total liability", or "(3)": the number of a clause, which says nothing about anything. */
function isNumbering(sentence: string, start: number, value: string): boolean {
  const opens = /^\s*[§(]?\s*$/u.test(sentence.slice(0, start));
  const after = sentence.slice(start + value.length);
  if (!opens || !/^\d+(?:\.\d+)*$/u.test(value)) return false;
  return /^(?:[.)]|\.\))\s+\p{Lu}/u.test(after) || (value.includes('.') && /^\s+\p{Lu}\p{Ll}*\s/u.test(after));
}

/** "fifty ", "12-". */
function isNumber(part: string): boolean {
  return /^\d/u.test(numbersInDigits(part.toLowerCase().replace(/[\s-]+$/u, '')));
}

/**
 * The "5" in "2,5.1", or the "4 GHz" in a "2.4 GHz" that no pattern knows. A part of a number is a different number.
 */
function isCut(sentence: string, start: number, value: string): boolean {
  const before = /\d[.,:/]$/u.test(sentence.slice(Math.max(0, start - 2), start)) && /^\d/u.test(value);
  const after = /^(?:[\p{L}\p{N}½¼¾⅓⅔⅛]|[.,:/]\d)/u.test(sentence.slice(start + value.length));
  return before || (after && /\d$/u.test(value));
}

/**
 * The "2.3" in "−2.3", the "8" in "10^8" and the "5 €" in "5 €–10 €", where no pattern knows the whole. The hyphen in
 * "semi-20" or the dash after a word is no sign, and a year or an hour says something alone.
 */
function isEndOfAmount(sentence: string, start: number, value: string): boolean {
  const before = sentence.slice(Math.max(0, start - 2), start);
  const after = sentence.slice(start + value.length, start + value.length + 4);
  return signBefore.test(before) || (/[\d%\p{Sc}kKmMbB]$/u.test(value) && signAfter.test(after));
}

const signBefore = /(?:[+^⁄−\p{Sc}]|[±×] ?|(?:^|[\s([\d%°\p{Sc}])[-–]|(?:^|[^\p{L}\d.)])\.)$/u;
const signAfter = /^(?:[\^⁄]| ?[±×] ?[\d.]|[-–−+]\p{Sc}?\d)/u;

/**
 * "12" in "Children under 12 pay 3 euros". A word before a measure or another thing is no unit, unless it is a known
 * one.
 */
function withoutPredicate(quantity: string, text: string): string {
  const [, count = '', word = ''] = /^(.*\d) (\p{Ll}+)$/u.exec(quantity) ?? [];
  const goesOn = /^ (?:\d|[$€£]|an? |the |no |half |nothing|free)/u.test(text.slice(quantity.length));
  return goesOn && isVerb(word) && !unit.test(word) ? count : quantity;
}

/** "12 hours of" becomes "12 hours", since units are content words; but "4 to 8 days" is one quantity. */
function withoutFunctionWords(quantity: string): string {
  const parts = quantity.split(/(?<=[\s-])/u);
  const stop = parts.findIndex(
    (part, index) =>
      index > 0 &&
      /^\p{Ll}/u.test(part) &&
      isFunctionWord(part.replace(/[\s-]+$/u, '')) &&
      !isNumber(part) &&
      !(/^and /iu.test(part) && isNumber(parts[index + 1] ?? '')) &&
      !parts.slice(index).some((later) => /^[-−+]?\d/u.test(later)),
  );
  return (stop < 0 ? parts : parts.slice(0, stop)).join('').replace(/[\s-]+$/u, '');
}

/** "nine wooden sledges" rather than "nine wooden", and "5 large parking spaces" rather than "5 large parking". */
function withCounted(quantity: string, sentence: string, start: number): string {
  const after = sentence.slice(start + quantity.length, start + quantity.length + maxCountedChars);
  const [first = ''] = /(?<=[\p{L}\d] )\p{Ll}{3,}$/u.exec(quantity) ?? [];
  const isActive = isActor.test(sentence.slice(Math.max(0, start - 20), start));
  const [next, beyond] = after.matchAll(/(?<=^(?: \p{Ll}{3,})? )\p{Ll}{3,}(?![\p{L}-])/gu);
  if (next === undefined || !describes(first, isActive)) return quantity;
  if (isCounted(next)) return `${quantity} ${next[0]}`;
  const goesOn = beyond !== undefined && describes(next[0], isActive) && isCounted(beyond);
  return goesOn ? `${quantity} ${next[0]} ${beyond[0]}` : quantity;
}

/** To the library, "accounts" and "runs" are verbs, but nothing that a verb could have follows them. */
function isCounted({ 0: word, index, input }: RegExpExecArray): boolean {
  return isPluralNoun(word) || (/[^s]s$/u.test(word) && closes.test(input.slice(index + word.length)));
}

const closes = /^(?:$|[.,;:!?)]| (?:and|or|per|each|are|were|that|which|of|with)\b)/u;
const maxCountedChars = 60;
/** "Visitors under 12 pay fees": a verb may follow. */
const isActor = /\b(?:all|under|below|over|aged?) $/iu;

/** Further units, as in "12 volt batteries". */
const inSingular = /(?:lit(?:re|er)|watt|volt|amp(?:ere)?|hertz|joule|byte|degree|gallon|pint|ounce|pixel|percent)$/u;

/** "working", "wooden", "parking" and "staff" before what is counted. */
function describes(word: string, isActive: boolean): boolean {
  if (word === '' || isFunctionWord(word) || isNumber(word) || isPluralNoun(word)) return false;
  if (unit.test(word) || inSingular.test(word)) return false;
  // To the library, "visitors" and "stops" may be verbs.
  return isAdjective(word) || (!/[^s]s$/u.test(word) && (!isActive || !isVerb(word) || word.endsWith('ing')));
}

/**
 * The number in "the Melisande 61 is", "the Kestral Two" or "Quillpad 4.2 came", and "M3" in "the Ibis M3", but not
 * "B12" in "Room B12". It looks only at the end of the text before it, as far as a word may reach.
 */
function isPartOfName(text: string, start: number, found: string): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  if (/\p{Lu}[\p{L}\d]{0,9}-$/u.test(before)) return true;
  const word = /(?<![\p{L}-])\p{L}[\p{L}-]+(?= $)/u.exec(before)?.[0] ?? '';
  const isModel = /^\p{Lu}[\p{L}\d-]*$/u.test(found);
  // "the TX-40" is a thing by its name.
  if (/^the$/iu.test(word)) return isModel && /\d/u.test(found);
  if (!/^\p{Lu}/u.test(word) || isFunctionWord(word)) return false;
  if (numberAfter(text, start - word.length - 1, word) !== '') return true;
  if (/^(?:\d+|\p{Lu}\p{Ll}+)$/u.test(found)) return true;
  return isModel
    ? !isCommonWord(word)
    : versionAfter(text, start - word.length - 1, word).trim() === /^\S+/u.exec(found)?.[0];
}

/** "one" alone is rarely a quantity, but "one week" and "one third" are. */
function worthAsking(quantity: string): boolean {
  return (
    isFraction.test(quantity) ||
    !/^one\b(?! (?:second|minute|hour|day|night|week|month|year|decade|percent|per cent)$)/iu.test(quantity)
  );
}
