import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrainingExample } from '@engraft/engine';
import fc from 'fast-check';
import { wantedSteps } from '../budget/plan.js';
import { batches, replayDrawn, tokensOf } from './batches.js';
import type { Material } from './material.js';
import { Meter } from '../budget/meter.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import { planTraining, type TrainingPlan } from './train.js';

const seed = 11;

function exampleOf(tokens: number): TrainingExample {
  return { sequence: { tokens: Array.from({ length: tokens }, () => 1), targetStart: tokens - 2 }, weight: 1 };
}

const material: Material = {
  facts: Array.from({ length: 20 }, () => ({ questions: [exampleOf(20), exampleOf(24)], keywords: [] })),
  dev: [exampleOf(20)],
  replay: [...Array.from({ length: 60 }, () => exampleOf(100)), ...Array.from({ length: 30 }, () => exampleOf(40))],
  exact: [],
  objects: [],
  beginnings: [],
  unknown: [],
  renamed: [],
  protectedDirections: [exampleOf(120), exampleOf(60)].map(({ sequence }) => sequence),
  known: [],
  rehearsal: [],
};
const wanted = wantedSteps(material.facts.length, recipe.training);

function planWith(maxComputeMicrousd: number): TrainingPlan | null {
  const rates = { input_nanousd_per_token: 12, output_nanousd_per_token: 30, cached_input_nanousd_per_token: 3 };
  return planTraining({
    material,
    recipe,
    seed,
    meter: new Meter({ max_compute_microusd: maxComputeMicrousd, training_nanousd_per_token: 36, ...rates }),
  });
}

/** Cost of the whole training, in micro-USD. */
function costMicrousd({ material: planned, steps }: TrainingPlan): number {
  const stream = batches(planned, seed, recipe);
  let trained = 0;
  for (let step = 0; step < steps; step++) trained += tokensOf(stream.next().value);
  const protectedTokens = planned.protectedDirections.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const read =
    tokensOf(replayDrawn(planned, seed, steps, recipe)) +
    recipe.training.devEvaluations * tokensOf(planned.dev) +
    protectedTokens;
  return (36 * trained + 12 * read) / 1000;
}

test('with money for all of it every row is replayed for every step', () => {
  assert.deepEqual(planWith(1e6), { material, steps: wanted });
});

test('with less there are fewer steps, and with money for few of them only short rows are replayed', () => {
  const whole = costMicrousd({ material, steps: wanted }) / recipe.shares.training;
  const most = planWith(Math.ceil(0.8 * whole));
  assert.ok(most !== null && most.steps < wanted && most.steps >= recipe.replay.neededStepsShare * wanted);
  assert.equal(most.material, material);
  const few = planWith(Math.ceil(0.4 * whole));
  assert.ok(few !== null && few.steps > 0.4 * wanted);
  assert.ok(few.material.replay.every(({ sequence }) => sequence.tokens.length <= recipe.replay.shortTokens));
  assert.equal(planWith(1), null);
});

test('more money never plans fewer steps of the same rows, nor more than it pays', () => {
  const money = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(money, money, (a, b) => {
      const less = planWith(Math.min(a, b));
      const more = planWith(Math.max(a, b));
      if (less === null) return;
      assert.ok(more !== null);
      if (more.material.replay.length === less.material.replay.length) assert.ok(more.steps >= less.steps);
      // The rows of a short sample stand for all of them.
      assert.ok(costMicrousd(less) <= 1.1 * recipe.shares.training * Math.min(a, b));
    }),
    { numRuns: 50 },
  );
});
