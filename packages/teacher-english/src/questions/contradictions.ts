import { questionKey, normalise, wordTokens, type TextRange } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';
import { circumstancesBefore } from './clauses.js';

interface Askable {
  readonly sentence: TextRange;
  readonly span: Span;
  /** In the order of `deriveQuestions`: the shortest first. */
  readonly derived: readonly string[];
}

/** A thing has one price, one weight and one year, but may have two makers. */
const singleValued: ReadonlySet<Span['kind']> = new Set(['date', 'time', 'money', 'quantity']);

/**
 * The values about which the passage contradicts itself: two sentences answer the same derived question differently.
 * Neither is learned, since nothing tells which is right.
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
 * Whether the words of any value stand in any of the texts in one run. The time does not grow with the number of
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
 * The most specific question, and what else the sentence says about when or where: 40 employees in 1990 and 90 in 2000
 * are no contradiction. `What does Velona have?` asks for employees and for offices, so the thing counted or measured
 * is part of the key.
 */
function valueKey({ sentence, span, derived }: Askable): string | null {
  const question = mostSpecific(derived);
  if (question === undefined || !singleValued.has(span.kind)) return null;
  if (span.kind === 'date' && isPast.test(question) && !happensOnce.test(question)) return null;
  const asked = `${questionKey(question)} ${normalise(circumstancesBefore(sentence, span))}`;
  if (!question.startsWith('What ')) return asked;
  const unit = /^\S+ (.+)$/u.exec(span.text)?.[1];
  return span.kind === 'quantity' && unit !== undefined ? `${asked} ${normalise(unit)}` : null;
}

/** The longest of those that begin as the first one does. A date may have an "In what year" that others lack. */
function mostSpecific([first, ...others]: readonly string[]): string | undefined {
  const word = /^\S+/u.exec(first ?? '')?.[0] ?? '';
  return others
    .filter((question) => question.startsWith(`${word} `))
    .reduce((longest, question) => (question.length > (longest?.length ?? 0) ? question : longest), first);
}

const isPast = /^\S+ (?:did|was|were) /u;
/** A lamp is made once, but a race may be won, and a mill painted, in two years. */
const happensOnce = new RegExp(
  `\\b(?:${[
    'born|die|founded|found|established|establish|created|create|made|make|built|build|constructed|construct',
    'invented|invent|discovered|discover|designed|design|introduced|introduce|launched|launch',
    'opened|open|closed|close|completed|complete|finished|finish|published|publish|released|release',
    'written|write|composed|compose|signed|sign|begun|begin|started|start|ended|end',
  ].join('|')})\\b`,
  'u',
);
