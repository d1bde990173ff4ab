import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peakLearningRate } from '../recipe/defaults.js';
import { baseRecipe } from '../testing/recipe.js';
import { learningRateAt } from './learningRate.js';

const { training } = baseRecipe;

test('the rate falls with the model and over the run', () => {
  assert.ok(peakLearningRate(4e6) > peakLearningRate(5e8) && peakLearningRate(5e8) > peakLearningRate(7e9));
  const rates = Array.from({ length: 60 }, (_, step) => learningRateAt(step, 60, { ...training, peakRate: 1 }));
  assert.equal(Math.max(...rates), 1);
  assert.ok((rates[0] ?? 1) < 0.5 && Math.abs((rates[59] ?? 1) - training.finalRateShare) < 1e-9);
});

test('the rate rises by equal steps, then falls along half a wave', () => {
  const { warmupSteps, finalRateShare } = training;
  // The peak is reached at the step `warmupSteps - 1` and held for one more, from which the wave takes 60 steps to its
  // end.
  const peak = 2;
  const rateAt = (step: number): number => learningRateAt(step, warmupSteps + 61, { ...training, peakRate: peak });
  const near = (step: number, share: number): void => {
    assert.ok(Math.abs(rateAt(step) - share * peak) < 1e-9, `${rateAt(step)} at step ${step}`);
  };
  for (let step = 0; step < warmupSteps; step += 1) near(step, (step + 1) / warmupSteps);
  // A half wave keeps 3/4 of what is above the final rate after a third of its way, 1/2 after a half, 1/4 after two
  // thirds.
  for (const [steps, kept] of [
    [0, 1],
    [20, 3 / 4],
    [30, 1 / 2],
    [40, 1 / 4],
    [60, 0],
  ] as const) {
    near(warmupSteps + steps, finalRateShare + (1 - finalRateShare) * kept);
  }
  assert.deepEqual(
    [0, 1].map((step) => learningRateAt(step, 8, { ...training, peakRate: peak })),
    [1, 2],
    'a quarter of a short run at most',
  );
});
