import nlp from 'compromise';
import { memoised } from '../memoised.js';

const people = new Map<string, boolean>();

/** "Ada", "Bo Lind": one or two capitalised words, the first of which the compromise library knows as a first name. */
export function isPersonName(words: string): boolean {
  return (
    /^\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)?$/u.test(words) &&
    memoised(people, words, () => nlp(words).terms().first().has('#FirstName'))
  );
}
