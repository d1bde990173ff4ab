/**
 * Bare nouns that the patterns of `spans.ts` do not reach, found by the language library compromise: the objects of verbs ("keeps selling
 * [sausages] at home games") and what opens a clause without an article ("[bees] live on the roof").
 */
import nlp from 'compromise';
import { z } from 'zod';
import { isFunctionWord } from './functionWords.js';
import type { Stretch } from './sentences.js';
import type { Span } from './spans.js';

/** Of `nouns().json({ offset: true })`: a noun phrase, its place in UTF-16 units. */
const nounPhrases = z.array(z.object({ offset: z.object({ start: z.number().int(), length: z.number().int() }) }));

/** "twice a year": no answer by itself. */
const isTime = /^(?:time|hour|day|night|week|month|year|today|tomorrow)s?$/u;
const maxWords = 3;

/** The spans with the bare nouns that none of them covers, in the order of the text. */
export function withBareNouns(spans: readonly Span[], sentence: Stretch): Span[] {
  const nouns = bareNouns(sentence.text).map(({ at, text }): Span => {
    const start = sentence.start + at;
    return { kind: 'phrase', start, end: start + text.length, text, tier: 1 };
  });
  const fresh = nouns.filter((noun) => spans.every((span) => noun.end <= span.start || noun.start >= span.end));
  return [...spans, ...fresh].sort((a, b) => a.start - b.start);
}

/** In lower case, of at most three words, without a definite article or a possessive: those speak of what is known already. */
function bareNouns(text: string): { readonly at: number; readonly text: string }[] {
  return nounPhrases.parse(nlp(text).nouns().json({ offset: true })).flatMap(({ offset }) => {
    const phrase = text.slice(offset.start, offset.start + offset.length);
    const words = [...phrase.matchAll(/[\p{L}-]+/gu)].map(({ 0: word, index }) => ({ word, index }));
    const first = words.findIndex(({ word }) => !isFunctionWord(word));
    const head = words[first];
    if (head === undefined || /\p{N}/u.test(phrase)) return [];
    const introduction = phrase.slice(0, head.index).trim().toLowerCase();
    if (/\b(?:the|its|his|her|their|our|my)$/u.test(introduction)) return [];
    // "A robot …" is what the sentence is about; "Bees …" may be asked for.
    if (introduction !== '' && text.slice(0, offset.start).trim() === '') return [];
    const end = words.findIndex(({ word }, index) => index > first && isFunctionWord(word));
    const kept = words.slice(first, end < 0 ? undefined : end);
    const last = kept.at(-1);
    if (last === undefined || kept.length > maxWords) return [];
    const found = phrase.slice(head.index, last.index + last.word.length);
    const isPlain = /^[\p{Ll}\s-]+$/u.test(found) && !isTime.test(found);
    return isPlain ? [{ at: offset.start + head.index, text: found }] : [];
  });
}
