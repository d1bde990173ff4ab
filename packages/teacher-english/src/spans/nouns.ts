/**
 * Bare nouns that the patterns of `spans.ts` do not reach, found by the language library compromise: mostly the objects
 * of verbs ("keeps selling [sausages] at home games").
 */
import nlp from 'compromise';
import { z } from 'zod';
import { isFunctionWord, type Stretch } from '@engraft/learning/parts';
import { isTimeUnit } from '../english/grammar.js';
import { withinBounds, type Span } from './spans.js';

/** The result of `json({ offset: true })`: noun phrases by their words, each with its place in UTF-16 units. */
const nounPhrases = z.array(
  z.object({
    terms: z.array(z.object({ offset: z.object({ start: z.number().int(), length: z.number().int() }) })),
  }),
);

const isPlainWord = /^\p{Ll}[\p{Ll}\p{M}-]+$/u;
const maxWords = 3;

/** The spans with the bare nouns that none of them covers, in the order of the text. */
export function withBareNouns(spans: readonly Span[], sentence: Stretch): Span[] {
  const nouns = bareNouns(sentence.text).map(({ at, text }): Span => {
    const start = sentence.start + at;
    return { kind: 'phrase', start, end: start + text.length, text, isSubject: false };
  });
  const fresh = nouns.filter((noun) => spans.every((span) => noun.end <= span.start || noun.start >= span.end));
  return withinBounds([...spans, ...fresh].sort((a, b) => a.start - b.start));
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Nouns in lower case, of at most three words, without a definite article or a possessive: those speak of what is known
 * already.
 */
function bareNouns(text: string): { readonly at: number; readonly text: string }[] {
  if (!/\p{Ll}[\p{Ll}\p{M}-]/u.test(text)) return [];
  // A plain view, since the one of nouns would parse each of them anew.
  const phrases = nounPhrases.parse(nlp(text).nouns().toView(null).json({ offset: true }));
  return phrases.flatMap(({ terms }) => {
    const words = terms.map(({ offset: { start, length } }): Word => {
      return { start, end: start + length, text: text.slice(start, start + length) };
    });
    const first = words.findIndex((word) => !isFunctionWord(word.text));
    const [before, head] = [words[first - 1], words[first]];
    if (head === undefined || /^(?:the|its|his|her|their|our|my)$/iu.test(before?.text ?? '')) return [];
    // "A robot …" is what the sentence is about.
    if (before !== undefined && !/[\p{L}\p{N}]/u.test(text.slice(0, words[0]?.start))) return [];
    const end = words.findIndex((word, index) => index > first && isFunctionWord(word.text));
    const kept = words.slice(first, end < 0 ? undefined : end);
    const found = text.slice(head.start, kept.at(-1)?.end);
    const isPlain = kept.length <= maxWords && kept.every((word) => isPlainWord.test(word.text)) && !isTimeUnit(found);
    return isPlain ? [{ at: head.start, text: found }] : [];
  });
}
