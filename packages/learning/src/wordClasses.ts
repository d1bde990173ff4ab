/** What a word is by itself, as the language library compromise knows it. */
import nlp from 'compromise';
import { lookedUp } from './lookedUp.js';

const adjectives = new Map<string, boolean>();
const pluralNouns = new Map<string, boolean>();
const verbs = new Map<string, boolean>();

export function isAdjective(word: string): boolean {
  return lookedUp(adjectives, word, () => nlp(word).has('#Adjective'));
}

export function isPluralNoun(word: string): boolean {
  return lookedUp(pluralNouns, word, () => nlp(word).has('#Plural'));
}

export function isVerb(word: string): boolean {
  return lookedUp(verbs, word, () => nlp(word).has('#Verb'));
}
