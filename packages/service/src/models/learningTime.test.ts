import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultRecipe } from '@engraft/learning';
import { secondsPerThousandCharacters, type MeasuredSpeeds } from './learningTime.js';

const recipe = defaultRecipe(6e6);
const speeds: MeasuredSpeeds = { reading: 5000, writing: 400, stepSeconds: 0.1 };

test('the time to learn follows from each of the speeds, and from the steps of the recipe', () => {
  const seconds = (changes: Partial<MeasuredSpeeds>, steps = recipe.training.enoughSteps): number => {
    const training = { ...recipe.training, enoughSteps: steps };
    return secondsPerThousandCharacters('english', { training }, { ...speeds, ...changes });
  };
  const all = seconds({});
  assert.ok(Math.abs(seconds({ stepSeconds: 0.2 }) - all - recipe.training.enoughSteps * 0.1) < 1e-9);
  assert.ok(Math.abs(seconds({}, recipe.training.enoughSteps + 10) - all - 1) < 1e-9);
  assert.ok(seconds({ reading: 2500 }) > all);
  assert.ok(seconds({ writing: 200 }) > all);
  const twice = { reading: 10_000, writing: 800, stepSeconds: 0.05 };
  assert.ok(Math.abs(seconds(twice) - all / 2) < 1e-9, 'all twice as fast takes half the time');
});
