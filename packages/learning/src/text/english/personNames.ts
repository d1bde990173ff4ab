import nlp from 'compromise';
import { memoised } from '../memoised.js';

const people = new Map<string, boolean>();

/** Before any name, these mean a person. */
const sureTitles = 'Mr|Mrs|Ms|Miss|Dr|Prof|Professor|CEO|CFO|COO|CTO|Councillor|Senator';
/** Before a first name, since there are also "Queen Street" and "Coach House". */
const titles =
  'Captain|Mayor|Coach|Chair|Chairman|Chairwoman|Minister|President|Chancellor|Governor|Judge|Bishop|Father|Sister|' +
  'King|Queen|Prince|Princess|Sir|Lady|Lord|Major|Colonel|General|Doctor|Director|Chef|Saint|St';
/** Titles before a name, as a source of regular expressions. */
export const personTitles = `(?:${sureTitles}|${titles})`;
const name = "\\p{Lu}[\\p{L}'’-]+";
const parts = `${name}(?:(?: (?:\\p{Lu}\\.|van|von|de|da|di|del|der|la|le|al|bin))* ${name})?`;
const sure = new RegExp(`^(?:${sureTitles})\\.? ${parts}$`, 'u');
const possible = new RegExp(`^(?:(?:${titles})\\.? )?(${parts})$`, 'u');

/**
 * "Ada", "Bo Lind", "Ada M. Kell", "Mayor Ada Kell": one or two capitalised words, the first of which the compromise
 * library knows as a first name, or a title and a name.
 */
export function isPersonName(words: string): boolean {
  if (sure.test(words)) return true;
  const untitled = possible.exec(words)?.[1];
  return untitled !== undefined && memoised(people, untitled, () => nlp(untitled).terms().first().has('#FirstName'));
}
