/** The class of a word by itself, as the language library compromise knows it. */
import nlp from 'compromise';
import { lookedUp } from '@engraft/learning/parts';

const adjectives = new Map<string, boolean>();
const pluralNouns = new Map<string, boolean>();
const verbs = new Map<string, boolean>();
const genders = new Map<string, 'female' | 'male' | null>();

export function isAdjective(word: string): boolean {
  return lookedUp(adjectives, word, () => nlp(word).has('#Adjective'));
}

export function isPluralNoun(word: string): boolean {
  return lookedUp(pluralNouns, word, () => nlp(word).has('#Plural'));
}

export function isVerb(word: string): boolean {
  return lookedUp(verbs, word, () => nlp(word).has('#Verb'));
}

/** The gender of a name, by its first word after any title; `null` where the library knows none. */
export function genderOf(name: string): 'female' | 'male' | null {
  const first = /^(?:(?:the|Dr|Prof|Captain|Mayor|Sir|Lady|Professor|Doctor)\.? )?(\p{Lu}[\p{L}'’-]+)/u.exec(name)?.[1];
  if (first === undefined) return null;
  return lookedUp(genders, first, () => {
    const term = nlp(first);
    return term.has('#FemaleName') ? 'female' : term.has('#MaleName') ? 'male' : null;
  });
}
