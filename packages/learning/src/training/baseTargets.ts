import type { TrainingExample } from '@engraft/engine';
import type { MeteredCalls } from '../budget/calls.js';
import { replayDrawn, type Material } from './material.js';
import type { Recipe } from '../recipe/recipe.js';

/**
 * The material with base's likeliest alternatives at the tokens of the replay rows that so many batches show: what an
 * adapter should leave as it is are base's probabilities, of which a row's answer shows one choice (Li & Hoiem,
 * "Learning without Forgetting", arXiv:1606.09282). Where facts are seen often the tokens of the prompts count too, see
 * `ReplayRecipe.heldPromptExposures`. Rows that the money does not reach keep their answers.
 */
export async function withBaseTargets(
  calls: MeteredCalls,
  material: Material,
  seed: number,
  steps: number,
  recipe: Recipe,
): Promise<Material> {
  const rows = replayDrawn(material, seed, steps, recipe);
  const exposures = (steps * recipe.training.pairsPerBatch) / material.facts.length;
  const held =
    exposures >= recipe.replay.heldPromptExposures
      ? rows.map((row) => withPrompt(row, recipe.replay.heldRowWeight))
      : rows;
  const requests = held.map(({ sequence }) => ({ sequence, adapter: null, topK: recipe.teaching.softTargetK }));
  const scores = await calls.score(requests, recipe.shares.training);
  const softened = new Map(
    rows.map((row, index): [TrainingExample, TrainingExample] => {
      const score = scores[index] ?? null;
      return [row, score === null ? row : { ...(held[index] ?? row), softTargets: score.topK }];
    }),
  );
  return { ...material, replay: material.replay.map((row) => softened.get(row) ?? row) };
}

/** Every token but the first is a target. */
function withPrompt({ sequence }: TrainingExample, weight: number): TrainingExample {
  return { sequence: { ...sequence, targetStart: 1 }, weight };
}
