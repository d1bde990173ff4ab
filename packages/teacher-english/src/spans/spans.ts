/**
 * Finds what one could ask about a sentence: names, quantities, money, dates, times, codes, quotations, and the noun
 * phrases that end a clause. It only matches patterns, so the same text always gives the same spans.
 */
import type { TextRange } from '@engraft/learning/parts';
import { findNames } from './names.js';
import { findColours, findPhrases, findSubordinateClauses } from './phrases.js';
import { findValues } from './values.js';

export type SpanKind = 'date' | 'time' | 'money' | 'quantity' | 'code' | 'quotation' | 'name' | 'phrase';

/** Its place counts from the start of the sentence. */
export interface Found {
  readonly kind: SpanKind;
  readonly start: number;
  readonly text: string;
  readonly isSubject: boolean;
}

export interface Span extends TextRange {
  readonly kind: SpanKind;
  /** Whether it opens the sentence, as its subject. */
  readonly isSubject: boolean;
}

/**
 * A sentence with more spans is a list, and a longer span is no answer. Each span is compared with the rest of its
 * sentence, so these limits bound the time for a passage made to be slow. People write a third of either.
 */
const maxSpans = 32;
const maxSpanChars = 200;

/** The first spans in the order of the text, without very long ones. */
export function withinBounds(spans: readonly Span[]): Span[] {
  return spans.filter(({ text }) => text.length <= maxSpanChars).slice(0, maxSpans);
}

/**
 * The spans of one sentence, without overlap, in the order of the text. Offsets count from the start of the passage.
 */
export function findSpans(sentence: TextRange, passage: string): Span[] {
  const taken: Span[] = [];
  const take = (found: readonly Found[]): void => {
    for (const { kind, start, text, isSubject } of found) {
      const end = start + text.length;
      if (text.length > 0 && taken.every((span) => end <= span.start || start >= span.end))
        taken.push({ kind, start, end, text, isSubject });
    }
  };
  take(findValues(sentence.text));
  take(findNames(sentence, passage));
  take(findSubordinateClauses(sentence.text));
  take(findColours(sentence.text));
  take(findPhrases(sentence, taken));
  return withinBounds(taken.sort((a, b) => a.start - b.start)).map((span) => ({
    ...span,
    start: span.start + sentence.start,
    end: span.end + sentence.start,
  }));
}

/** "2 hours and 20 minutes" is a quantity, since it begins and ends with one. An answer of mixed kinds is a phrase. */
export function kindOfAnswer(answer: string): SpanKind {
  const spans = findSpans({ start: 0, end: answer.length, text: answer }, answer);
  const [first, last] = [spans[0], spans.at(-1)];
  const isWhole = first?.start === 0 && last?.end === answer.length && first.kind === last.kind;
  return isWhole ? first.kind : 'phrase';
}
