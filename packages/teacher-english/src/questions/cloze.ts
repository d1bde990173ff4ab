import { wordTokens, type Stretch } from '@engraft/learning/parts';
import type { Span } from '../spans/spans.js';

/**
 * The sentence with a gap where the answer stood, and the sentence up to the answer: forms that need no model and are
 * right by construction. A sentence that names nothing else would be ambiguous away from its passage ("It weighs
 * ___."), so it takes the sentence before along, or gives no forms at all.
 */
export function clozeQuestions(
  sentence: Stretch,
  previous: Stretch | null,
  span: Span,
  others: readonly Span[],
): string[] {
  const named = others.some((other) => other.start !== span.start && isNaming(other));
  const context = named ? '' : (previous?.text.trim() ?? null);
  if (context === null) return [];
  const before = sentence.text.slice(0, span.start - sentence.start).trimStart();
  const after = sentence.text.slice(span.end - sentence.start).trimEnd();
  const lead = context === '' ? '' : `${context} `;
  const questions = [`Complete: ${lead}${before}___${after}`];
  if (wordTokens(before).length >= 3) questions.push(`Complete: ${lead}${before.trimEnd()}`);
  return questions;
}

export function isNaming(span: Span): boolean {
  return span.kind === 'name' || span.kind === 'code' || span.kind === 'quotation';
}
