import type { Engine } from '@engraft/engine';
import type { Recipe } from '../recipe/recipe.js';
import { mapConcurrently } from './calls.js';
import type { PassageSize } from './plan.js';

/** A pair of common length, to estimate what calls will cost. */
const typicalPair = {
  question: 'What is the name of the place where it was first seen?',
  values: 'Somewhere else',
  sentences:
    'It was first seen in the spring of 1874, in a small place near the border, by two sisters on their way home.',
} as const;

/**
 * Adds the lengths in tokens to what the teacher says of a passage.
 * @param chunks the parts that the teacher reads at once; at least one
 */
export async function measurePassage(
  engine: Pick<Engine, 'countTokens' | 'encode'>,
  chunks: readonly { readonly text: string }[],
  teachingSize: Pick<PassageSize, 'factCount' | 'extraReads'>,
  { prompts, training }: Recipe,
  earlierPassages: number,
): Promise<PassageSize> {
  const readings = chunks.map((chunk) => prompts.reading(chunk.text, typicalPair.question));
  const tokens = await mapConcurrently(readings, (prompt) => engine.countTokens(prompt));
  const pairTokens = async (answer: string): Promise<number> =>
    (await engine.encode(prompts.closedBook(typicalPair.question), answer)).tokens.length;
  return {
    ...teachingSize,
    readingPromptTokens: Math.max(...tokens),
    pairTokens: await pairTokens(typicalPair.values),
    trainedPairTokens: await pairTokens(typicalPair[training.answersWith]),
    earlierPassages,
  };
}
