/** The phrases that a clause ends in, or lists, besides names and values; and what follows "because" or "when". */
import { colourWords, shadeWords } from '../english/colours.js';
import { isFunctionWord, type Stretch } from '@engraft/learning/parts';
import { introducesNounPhrase, isCopula } from '../english/grammar.js';
import type { Found, Span } from './spans.js';

const colourBeforeNoun = new RegExp(`\\b(?:${shadeWords} )?${colourWords}(?= \\p{Ll})`, 'gu');

/** "a [dark green] door". */
export function findColours(text: string): Found[] {
  return [...text.matchAll(colourBeforeNoun)].map(({ index, 0: colour }) => phraseAt(index, colour));
}

function phraseAt(start: number, text: string): Found {
  return { kind: 'phrase', start, text, isSubject: false };
}

/**
 * "shut because [the key was lost]": what "Why …?" or "When …?" asks for. Shorter ones are phrases, longer ones no
 * answer.
 */
export function findSubordinateClauses(text: string): Found[] {
  return [...text.matchAll(/\b(?:because|since|after|when|if) (?=\p{Ll})([^.,;:!?()“”"]{8,70})(?=[.,;:!?)])/gu)]
    .map(({ index, 0: whole, 1: clause = '' }) => phraseAt(index + whole.length - clause.length, clause))
    .filter(({ text: clause }) => /^(?!of )\S+ \S+ \S+/u.test(clause));
}

const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

interface Word {
  readonly start: number;
  readonly end: number;
  readonly role: 'content' | 'function' | 'taken' | 'break';
  readonly text: string;
}

/**
 * Runs of one to four content words that end a clause, after an article, a preposition, a copula, a colon or the like:
 * "opens with a [brass key].", "is [painted green],"; of one or two that a function word follows: "on a [ferry]
 * between"; and what stands in a list: "wool, [cotton] and silk". Not the sentence's subject.
 */
export function findPhrases(sentence: Stretch, taken: readonly Span[]): Found[] {
  const words = wordsOf(sentence.text, taken);
  const phrases: Found[] = [];
  for (const [index, word] of words.entries()) {
    if (word.role !== 'break' && word.role !== 'function') continue;
    const opening = words.slice(0, index).findLastIndex(({ role }) => role !== 'content');
    const before = words[opening];
    const first = words[opening + 1];
    const count = index - opening - 1;
    if (before === undefined || first === undefined || count < 1 || opening < 1) continue;
    if (count > (word.role === 'break' ? 4 : 2)) continue;
    const isListed = before.text === ',' && /^(?:[,.]?|and|or)$/u.test(word.text);
    const isValue = before.text === ':' && word.role === 'break';
    // "is painted green." ends in what is said; "is made of" does not.
    const isSaid = isCopula(before.text) && word.role === 'break';
    // A noun follows "to" only where the clause ends: "moved to Africa.", but "learned to cook on".
    const isIntroduced = introducesNounPhrase(before.text) && (before.text !== 'to' || word.role === 'break');
    if (!isListed && !isValue && !isSaid && !isIntroduced) continue;
    const phrase = sentence.text.slice(first.start, words[index - 1]?.end);
    // "is painted dark green": the colour is what people ask for.
    // "about smuggling salt": what is done with it is none of it, but "from spring water" it is.
    const doing = before.text === 'about' ? (/^\p{Ll}{3,}ing (?=\p{Ll})/u.exec(phrase)?.[0] ?? '') : '';
    const text = phrase.slice(doing.length).replace(/^(?:painted|coloured|colored) (?=.)/u, '');
    if (text.length > 2) phrases.push(phraseAt(first.start + phrase.length - text.length, text));
  }
  return phrases;
}

/** The words of a sentence by the part they can play in a phrase; punctuation and the sentence's end break clauses. */
function wordsOf(text: string, taken: readonly Span[]): Word[] {
  const words: Word[] = [];
  for (const { segment, index, isWordLike } of wordSegmenter.segment(text)) {
    const end = index + segment.length;
    if (isWordLike === true) {
      const inSpan = taken.some((span) => index < span.end && end > span.start);
      const role = inSpan ? 'taken' : isFunctionWord(segment) ? 'function' : 'content';
      words.push({ start: index, end, role, text: segment });
    } else if (/^[\p{P}\n]/u.test(segment) && !/^[-'’]$/u.test(segment)) {
      words.push({ start: index, end, role: 'break', text: segment });
    }
  }
  words.push({ start: text.length, end: text.length, role: 'break', text: '' });
  return words;
}
