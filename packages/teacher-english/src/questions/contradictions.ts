import { questionKey, normalise, wordTokens } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';

interface Askable {
  readonly span: Span;
  /** The most particular first. */
  readonly derived: readonly string[];
}

/** There is one price, one weight and one year, while a thing may have two makers. */
const singleValued: ReadonlySet<Span['kind']> = new Set(['date', 'time', 'money', 'quantity']);

/**
 * The values that the passage contradicts itself about: two sentences that answer the same question by rule with
 * different ones. Neither is learned, since nothing tells which of them is right.
 */
export function contradictedValues(candidates: readonly Askable[]): string[] {
  const answers = new Map<string, Set<string>>();
  for (const candidate of candidates) {
    const key = valueKey(candidate);
    if (key !== null) answers.set(key, (answers.get(key) ?? new Set()).add(candidate.span.text));
  }
  return [...answers.values()].flatMap((values) => (new Set([...values].map(normalise)).size > 1 ? [...values] : []));
}

/** Leaves out such values, and what is asked for by one of them ("What costs 49 dollars?"). */
export function withoutContradictions<Candidate extends Askable>(
  candidates: readonly Candidate[],
  contradicted: readonly string[],
): Candidate[] {
  const mentionsAny = mentionOf(contradicted);
  return candidates.filter(({ span, derived: [question] }) => !mentionsAny(span.text, question ?? ''));
}

/**
 * Whether the words of any of the values stand in any of the texts in one run, in a time that does not grow with the
 * values.
 */
export function mentionOf(values: readonly string[]): (...texts: readonly string[]) => boolean {
  const runs = values.map(wordTokens).filter((words) => words.length > 0);
  const known = new Set(runs.map((words) => words.join(' ')));
  const lengths = [...new Set(runs.map((words) => words.length))];
  return (...texts) =>
    texts.some((text) => {
      const words = wordTokens(text);
      return lengths.some((length) => words.some((_, at) => known.has(words.slice(at, at + length).join(' '))));
    });
}

/**
 * `What does Velona have?` is asked of employees and of offices, so what is counted or measured belongs to such a
 * question.
 */
function valueKey({ span, derived: [question] }: Askable): string | null {
  if (question === undefined || !singleValued.has(span.kind)) return null;
  if (!question.startsWith('What ')) return questionKey(question);
  const unit = /^\S+ (.+)$/u.exec(span.text)?.[1];
  return span.kind === 'quantity' && unit !== undefined ? `${questionKey(question)} ${normalise(unit)}` : null;
}
