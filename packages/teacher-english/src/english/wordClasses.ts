/** The class of a single word, from the compromise library. */
import nlp from 'compromise';
import { memoised, personTitles } from '@engraft/learning/parts';

const adjectives = new Map<string, boolean>();
const pluralNouns = new Map<string, boolean>();
const verbs = new Map<string, boolean>();
const genders = new Map<string, 'female' | 'male' | null>();

export function isAdjective(word: string): boolean {
  return memoised(adjectives, word, () => nlp(word).has('#Adjective'));
}

export function isPluralNoun(word: string): boolean {
  return memoised(pluralNouns, word, () => nlp(word).has('#Plural'));
}

export function isVerb(word: string): boolean {
  return memoised(verbs, word, () => nlp(word).has('#Verb'));
}

const firstName = new RegExp(`^(?:(?:the|${personTitles})\\.? )*(\\p{Lu}[\\p{L}'’-]+)`, 'u');

/**
 * The gender of a person, by "Mr" and its like, or by the first word of the name after any title. `null` if the library
 * knows none.
 */
export function genderOf(name: string): 'female' | 'male' | null {
  if (/^(?:Mrs|Ms|Miss)\b/u.test(name)) return 'female';
  if (/^Mr\b/u.test(name)) return 'male';
  const first = firstName.exec(name)?.[1];
  if (first === undefined) return null;
  return memoised(genders, first, () => {
    const term = nlp(first);
    return term.has('#FemaleName') ? 'female' : term.has('#MaleName') ? 'male' : null;
  });
}
