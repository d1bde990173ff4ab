/** The part that English function words play in a sentence. */
import { articles, copulas, prepositions } from '@engraft/learning/parts';

/** Words that may introduce a noun phrase. */
const introducers = new Set([
  ...articles,
  ...prepositions,
  ...'and or its his her their our my your every each no some all only but another'.split(' '),
]);

export function introducesNounPhrase(word: string): boolean {
  return introducers.has(word.toLowerCase());
}

export function isCopula(word: string): boolean {
  return copulas.has(word.toLowerCase());
}

const timeUnit =
  /^(?:time|second|minute|hour|day|morning|evening|night|week|month|season|year|decade|today|tomorrow)s?$/u;
const partOfTime = /^(?:afternoon|weekend|spring|summer|autumn|winter|moment)s?$/u;

/** "twice a year" is no answer by itself. */
export function isTimeUnit(word: string): boolean {
  return timeUnit.test(word);
}

/** "in the evening", "in the summer" name nobody. */
export function isTime(word: string): boolean {
  return timeUnit.test(word) || partOfTime.test(word);
}
