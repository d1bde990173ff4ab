/**
 * Beginnings of answers. The first tokens of a reply decide which sentence of the passage it becomes. Many questions
 * must find theirs, while each sentence is known by heart after a few rows. So most rows end with the beginning of
 * their answer, which costs half as much.
 */
import type { TrainingExample } from '@engraft/engine';
import type { Recipe } from '../recipe/recipe.js';

/** The parts of a recipe that say which answers are cut. */
export type BeginningRecipe = Pick<Recipe, 'training' | 'replay'>;

/** The row with the first `count` tokens of its answer. A row whose answer is no longer stays as it is. */
export function beginningOf(row: TrainingExample, count: number): TrainingExample {
  const { tokens, targetStart } = row.sequence;
  if (tokens.length - targetStart <= count) return row;
  const sequence = { tokens: tokens.slice(0, targetStart + count), targetStart };
  const { softTargets, targetWeights, ...rest } = row;
  return {
    ...rest,
    sequence,
    ...(softTargets === undefined ? {} : { softTargets: softTargets.slice(0, count) }),
    ...(targetWeights === undefined ? {} : { targetWeights: targetWeights.slice(0, count) }),
  };
}

/** The rows in turn, of which one in `wholeSentenceEvery` is whole, the first one included. */
export function* mostlyBeginnings(
  rows: Iterable<TrainingExample>,
  { training: { wholeSentenceEvery }, replay: { beginningTokens } }: BeginningRecipe,
): Generator<TrainingExample, undefined> {
  let shown = 0;
  for (const row of rows) yield shown++ % wholeSentenceEvery === 0 ? row : beginningOf(row, beginningTokens);
  return undefined;
}

/** The tokens of an answer of this length that a row shows on average. */
export function shownTokens(
  answerTokens: number,
  { training: { wholeSentenceEvery }, replay: { beginningTokens } }: BeginningRecipe,
): number {
  const cut = Math.min(answerTokens, beginningTokens);
  return cut + (answerTokens - cut) / wholeSentenceEvery;
}
