/**
 * Which words are common ones: at the beginning of a sentence their capital says nothing, while that of a name does.
 */
import nlp from 'compromise';
import { z } from 'zod';

const model = z.object({
  one: z.object({ lexicon: z.record(z.string(), z.union([z.string(), z.array(z.string())])) }),
});

/** Tags of the language library's lexicon for what is nobody's name. */
const commonTags = new Set([
  'Actor',
  'Adjective',
  'Adverb',
  'Comparable',
  'Demonym',
  'Gerund',
  'Infinitive',
  'Plural',
  'PresentTense',
  'Singular',
  'Uncountable',
]);

const { lexicon } = model.parse(nlp.model()).one;

/** Endings of nouns that are made of other words; few names have them, unlike -ing or -ity. */
const madeNoun = /\p{L}{3}(?:ment|ship|sion|tion|ware)s?$/u;

/** Whether a word, in whatever case, is one that the language library knows as common, or is formed like one. */
export function isCommonWord(word: string): boolean {
  const lower = word.toLowerCase();
  const tags = [Object.hasOwn(lexicon, lower) ? (lexicon[lower] ?? []) : []].flat();
  return tags.length === 0 ? madeNoun.test(lower) : tags.every((tag) => commonTags.has(tag));
}
