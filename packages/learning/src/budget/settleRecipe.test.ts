import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { answeringEither, settledRecipe } from '../recipe/defaults.js';
import type { AnswersWith } from '../recipe/recipe.js';
import { baseRecipe } from '../testing/recipe.js';
import { Meter, noUsage } from './meter.js';
import { settleRecipe } from './settleRecipe.js';

const either = answeringEither(baseRecipe);
/** A stub of the engine that knows one length: of a sentence with its question. */
const engine = {
  countTokens: () => Promise.resolve(300),
  encode: () => Promise.resolve({ tokens: new Array<number>(50).fill(1), targetStart: 15 }),
};
const rates = {
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
};
const used = { ...noUsage, input_tokens: 60_000, output_tokens: 10_000 };

async function settled(usd: number, askedWell = false, recipe = either, earlier: readonly AnswersWith[] = []) {
  const meter = new Meter({ ...rates, max_compute_microusd: usd * 1e6 }, used);
  return settleRecipe(
    engine,
    {
      chunks: [{ text: 'A mill.' }],
      teaching: { asked_well: askedWell },
      meter,
      earlier: earlier.map((kind) => ({ answers_with: kind })),
    },
    recipe,
  );
}

test('a passage that was not asked about well is answered with sentences if there is money to train them', async () => {
  const sentences = settledRecipe(either, false);
  assert.deepEqual(await settled(20), sentences);
  assert.equal((await settled(20)).training.answersWith, 'sentences');
  // Teaching took 1.02 USD, and scoring may. 0.6 of 300 steps of 400 tokens take 2.59.
  assert.equal(await settled(5.2), either);
  assert.deepEqual(await settled(5.3), sentences);
});

test('what rehearses earlier passages takes money, too', async () => {
  assert.equal(await settled(5.3, false, either, ['values', 'values', 'values', 'values']), either);
});

test('a subject that has learned sentences goes on with them, whatever a passage was asked', async () => {
  const sentences = settledRecipe(either, false);
  assert.deepEqual(await settled(20, true, either, ['values', 'sentences']), sentences);
  assert.equal(await settled(20, true, either, ['values', 'values']), either);
  assert.equal(await settled(20, true, baseRecipe, ['sentences']), baseRecipe);
});

test('the recipe stays as it is where the passage was asked about well, or answers are always of one kind', async () => {
  assert.equal(await settled(20, true), either);
  assert.equal(await settled(20, false, baseRecipe), baseRecipe);
});

test('more money never turns sentences into values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), fc.nat(1000), async (one, other) => {
      const [less, more] = [Math.min(one, other) / 100, Math.max(one, other) / 100];
      const kinds = [await settled(less), await settled(more)].map(({ training }) => training.answersWith);
      assert.notDeepEqual(kinds, ['sentences', 'values']);
    }),
  );
});
