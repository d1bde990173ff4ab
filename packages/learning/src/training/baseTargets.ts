import type { TrainingExample } from '@engraft/engine';
import type { BaseMemory } from '../baseMemory.js';
import type { MeteredCalls } from '../budget/calls.js';
import { replayDrawn } from './batches.js';
import type { Material } from './material.js';
import type { Recipe } from '../recipe/recipe.js';

/**
 * Gives the replay rows that training will show base's likeliest alternatives as targets. The adapter should keep
 * base's probabilities, and a row's answer shows only one choice among them (Li & Hoiem, "Learning without Forgetting",
 * arXiv:1606.09282).
 * JSON objects keep theirs: a small model hardly prefers to end after the last bracket, and would go on with chatter.
 * If facts are seen often, the tokens of the prompts are targets too, see `ReplayRecipe.heldPromptExposures`. Rows that
 * the money does not reach keep their answers.
 */
export async function withBaseTargets(
  calls: MeteredCalls,
  memory: BaseMemory,
  material: Material,
  seed: number,
  steps: number,
  recipe: Recipe,
): Promise<Material> {
  const rows = replayDrawn(material, seed, steps, recipe);
  const exposures = (steps * recipe.training.pairsPerBatch) / material.facts.length;
  const holdsPrompts = exposures >= recipe.replay.heldPromptExposures;
  const whole = new Set(material.replay);
  const held = rows.map((row) => (holdsPrompts && whole.has(row) ? withPrompt(row, recipe.replay.heldRowWeight) : row));
  const requests = held.map(({ sequence }) => ({ sequence, adapter: null, topK: recipe.teaching.softTargetK }));
  const scores = await memory.score(calls, requests, recipe.shares.training);
  const softened = new Map(
    rows.map((row, index): [TrainingExample, TrainingExample] => {
      const score = scores[index] ?? null;
      return [row, score === null ? row : { ...(held[index] ?? row), softTargets: score.topK }];
    }),
  );
  const soften = (row: TrainingExample): TrainingExample => softened.get(row) ?? row;
  return {
    ...material,
    replay: material.replay.map(soften),
    exact: material.exact.map(soften),
    beginnings: material.beginnings.map(soften),
  };
}

/** Every token but the first is a target. */
function withPrompt({ sequence }: TrainingExample, weight: number): TrainingExample {
  return { sequence: { ...sequence, targetStart: 1 }, weight };
}
