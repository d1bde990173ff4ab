/** Quantities, money, dates, times, codes and quotations. */
import { isCommonWord } from '../english/commonWords.js';
import { isFunctionWord, numbersInDigits } from '@engraft/learning/parts';
import type { Found } from './spans.js';
import { unit } from '../english/units.js';
import { isAdjective, isPluralNoun, isVerb } from '../english/wordClasses.js';
import { versionAfter } from './names.js';
import { isFraction, isFrequency, isMeasure, valuePatterns } from './valuePatterns.js';

/** In the order in which they are to be taken, see `valuePatterns`. */
export function findValues(sentence: string): Found[] {
  return valuePatterns.flatMap(([kind, pattern]) =>
    [...sentence.matchAll(pattern)].flatMap((match): Found[] => {
      const inner = match[1] ?? match[0];
      const start = match.index + match[0].indexOf(inner);
      const isWhole = isFrequency(inner) || isFraction.test(inner) || isMeasure.test(inner);
      const text = kind === 'quantity' && !isWhole ? countOf(inner, sentence, start) : inner;
      if (isCut(sentence, start, text) || isNumbering(sentence, start, text)) return [];
      if ((kind === 'quantity' || kind === 'code') && isPartOfName(sentence, match.index, text)) return [];
      return kind === 'quantity' && !worthAsking(text) ? [] : [{ kind, start, text, isSubject: false }];
    }),
  );
}

/** A number with what it counts or measures, of what a pattern has found. */
function countOf(found: string, sentence: string, start: number): string {
  const text = sentence.slice(start);
  const counted = withoutReference(withoutPredicate(withoutFunctionWords(withoutName(found)), text), sentence, start);
  return withCounted(withCompound(counted, text), text);
}

/** "7.5" of "7.5 The total liability": a word with a capital is counted only where it is a unit ("8 GB", "20 Euro"). */
function withoutName(quantity: string): string {
  const [, count = '', word = ''] = /^(.*\d) (\p{Lu}\p{Ll}+)$/u.exec(quantity) ?? [];
  return word === '' || unit.test(word.toLowerCase()) ? quantity : count;
}

/** "3" of "Section 3 applies". */
function withoutReference(quantity: string, sentence: string, start: number): string {
  const isReference = reference.test(sentence.slice(Math.max(0, start - 20), start));
  return isReference ? quantity.replace(/ .*$/u, '') : quantity;
}

const reference =
  /(?:\b(?:section|clause|article|chapter|paragraph|figure|table|page|step|annex|appendix|rule|no\.) |§ ?)$/iu;

/** "62 hand-coloured plates" of "62 hand": a word with a hyphen is one, of what is counted, or is none of it. */
function withCompound(quantity: string, text: string): string {
  const [, count = ''] = /^(.*[\p{L}\d]) \p{Ll}+$/u.exec(quantity) ?? [];
  const rest = /^(?:-\p{Ll}+)+/u.exec(text.slice(quantity.length))?.[0] ?? '';
  if (count === '' || rest === '') return quantity;
  const noun = /^ (\p{Ll}{3,}s)\b/u.exec(text.slice(quantity.length + rest.length))?.[1] ?? '';
  return noun !== '' && isPluralNoun(noun) ? `${quantity}${rest} ${noun}` : count;
}

/** "7.5" before "The total liability", or "(3)": the number of a clause, which says nothing of anything. */
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

/** The "5" of "2,5.1" or the "4 GHz" of a "2.4 GHz" that no pattern knows: a part of a number is another number. */
function isCut(sentence: string, start: number, value: string): boolean {
  const before = /\d[.,:/]$/u.test(sentence.slice(Math.max(0, start - 2), start)) && /^\d/u.test(value);
  const after = /^(?:[\p{L}\p{N}½¼¾⅓⅔⅛]|[.,:/]\d)/u.test(sentence.slice(start + value.length));
  return before || (after && /\d$/u.test(value));
}

/**
 * "12" of "Children under 12 pay 3 euros": what a measure or another thing follows is no unit, unless it is a known
 * one.
 */
function withoutPredicate(quantity: string, text: string): string {
  const [, count = '', word = ''] = /^(.*\d) (\p{Ll}+)$/u.exec(quantity) ?? [];
  const goesOn = /^ (?:\d|[$€£]|an? |the |no |half |nothing|free)/u.test(text.slice(quantity.length));
  return goesOn && isVerb(word) && !unit.test(word) ? count : quantity;
}

/** "12 hours of" → "12 hours": units are content words, but "4 to 8 days" is one quantity. */
function withoutFunctionWords(quantity: string): string {
  const parts = quantity.split(/(?<=[\s-])/u);
  const stop = parts.findIndex(
    (part, index) =>
      index > 0 &&
      /^\p{Ll}/u.test(part) &&
      isFunctionWord(part.replace(/[\s-]+$/u, '')) &&
      !isNumber(part) &&
      !(/^and /iu.test(part) && isNumber(parts[index + 1] ?? '')) &&
      !parts.slice(index).some((later) => /^\d/u.test(later)),
  );
  return (stop < 0 ? parts : parts.slice(0, stop)).join('').replace(/[\s-]+$/u, '');
}

/**
 * "nine wooden sledges" rather than "nine wooden": an adjective that is one to the language library, and a plural
 * behind it. `text` begins with the quantity.
 */
function withCounted(quantity: string, text: string): string {
  const adjective = /^\S+ (\p{Ll}{3,})$/u.exec(quantity)?.[1] ?? '';
  const noun = /^ (\p{Ll}{3,}s)\b/u.exec(text.slice(quantity.length))?.[1] ?? '';
  return adjective !== '' && noun !== '' && isAdjective(adjective) && isPluralNoun(noun)
    ? `${quantity} ${noun}`
    : quantity;
}

/**
 * The number of "the Melisande 61 is", "the Kestral Two" or "Quillpad 4.2 came", and "M3" of "the Ibis M3", but not
 * "B12" of "Room B12". Of what is before it only the end is looked at, which is as long as a word may be.
 */
function isPartOfName(text: string, start: number, found: string): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  if (/\p{Lu}[\p{L}\d]{0,9}-$/u.test(before)) return true;
  const word = /(?<![\p{L}-])\p{L}[\p{L}-]+(?= $)/u.exec(before)?.[0] ?? '';
  const isModel = /^\p{Lu}[\p{L}\d-]*$/u.test(found);
  // "the TX-40" is a thing by its name.
  if (/^the$/iu.test(word)) return isModel && /\d/u.test(found);
  if (!/^\p{Lu}/u.test(word) || isFunctionWord(word)) return false;
  if (/^(?:\d+|\p{Lu}\p{Ll}+)$/u.test(found)) return true;
  return isModel
    ? !isCommonWord(word)
    : versionAfter(text, start - word.length - 1, word).trim() === /^\S+/u.exec(found)?.[0];
}

/** "one" alone is rarely a quantity; "one week" and "one third" are. */
function worthAsking(quantity: string): boolean {
  return (
    isFraction.test(quantity) ||
    !/^one\b(?! (?:second|minute|hour|day|night|week|month|year|decade|percent|per cent)$)/iu.test(quantity)
  );
}
