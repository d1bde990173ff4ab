/** The indefinite article of nouns, by how they sound rather than how they are written. */

/** They begin with a vowel letter, but with the sound of "you" or "won". */
const likeConsonants = new Set(
  `eucalyptus eulogy euphemism euro european ewe once one ubiquitous ufo ukulele unanimous unicorn unicycle unification
  unified uniform unilateral union unique unisex unison unit unitary united universal universe university uranium urinal
  urine usable usage use used useful useless user usual usurper utensil utility utilitarian utopia utopian`
    .split(/\s+/u)
    .filter((word) => word !== ''),
);
/** Their "h" is silent. */
const likeVowels = new Set('heir heiress heirloom honest honorary honour honourable hour hourglass hourly'.split(' '));

export function articleOf(phrase: string): 'a' | 'an' {
  const word = /^\p{L}+/u.exec(phrase)?.[0].toLowerCase() ?? '';
  const begins = (words: ReadonlySet<string>): boolean => words.has(word) || words.has(word.replace(/s$/u, ''));
  return begins(likeVowels) || (/^[aeiou]/u.test(word) && !begins(likeConsonants)) ? 'an' : 'a';
}
