import type { Engine } from '@engraft/engine';
import { mapConcurrently } from '../budget/calls.js';
import type { ScoringOutcome } from '../outcomes.js';
import type { Recipe } from '../recipe/recipe.js';
import type { Chunk } from '../text/chunk.js';
import type { ToLearn } from './material.js';
import { sentencesWith } from './sentenceAnswers.js';

/**
 * Gives each fact the sentences that may answer its questions. A fact keeps its value for an answer if none fits into
 * an answer of the recipe. Returns `scoring` itself if answers are values.
 */
export async function withSentenceAnswers(
  engine: Engine,
  scoring: ScoringOutcome,
  chunks: readonly Chunk[],
  { evaluating: { maxAnswerTokens }, prompts, training }: Recipe,
): Promise<ToLearn> {
  if (training.answersWith === 'values') return scoring;
  const fits = async (sentence: string): Promise<boolean> => {
    const { tokens, targetStart } = await engine.encode(prompts.closedBook(''), sentence);
    return tokens.length - targetStart <= maxAnswerTokens;
  };
  const facts = await mapConcurrently(scoring.facts, async (fact) => {
    const sentences = sentencesWith(fact.answer, chunks);
    const fitting = await mapConcurrently(sentences, fits);
    return { ...fact, sentences: sentences.filter((_, index) => fitting[index]) };
  });
  return { ...scoring, facts };
}
