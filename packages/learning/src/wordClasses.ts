/** What a word is by itself, as the language library compromise knows it. */
import nlp from 'compromise';

export function isAdjective(word: string): boolean {
  return has(word, '#Adjective');
}

export function isPluralNoun(word: string): boolean {
  return has(word, '#Plural') && has(word, '#Noun');
}

const known = new Map<string, boolean>();
const maxKnown = 10_000;

/** Asking the library takes milliseconds, so that each word is asked about once. */
function has(word: string, tag: string): boolean {
  const key = `${word} ${tag}`;
  const earlier = known.get(key);
  if (earlier !== undefined) return earlier;
  if (known.size >= maxKnown) known.clear();
  const found = nlp(word).has(tag);
  known.set(key, found);
  return found;
}
