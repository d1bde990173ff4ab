import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planSteps, planTeaching } from './budget.js';
import { costNanousd, Meter, noUsage, subtractUsage } from './meter.js';
import { learningRateAt, peakLearningRate, recipe } from '../recipe.js';
import type { LearningBudget } from '../types.js';

const publishedRates = {
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
};

function budgetOf(max_compute_microusd: number): LearningBudget {
  return { max_compute_microusd, ...publishedRates };
}

const size = fc.record({
  factCount: fc.integer({ min: 0, max: 300 }),
  readingPromptTokens: fc.integer({ min: 30, max: 1500 }),
  pairTokens: fc.integer({ min: 10, max: 60 }),
  earlierPassages: fc.nat(12),
  templateReads: fc.nat(40),
});

test('what rehearses earlier passages leaves room for fewer facts', () => {
  fc.assert(
    fc.property(size, fc.integer({ min: 0, max: 20_000_000 }), (passage, cap) => {
      const facts = (earlierPassages: number): number =>
        planTeaching(budgetOf(cap), { ...passage, earlierPassages })?.factCount ?? 0;
      assert.ok(facts(passage.earlierPassages + 1) <= facts(passage.earlierPassages));
    }),
  );
  const passage = { templateReads: 0, factCount: 160, readingPromptTokens: 100, pairTokens: 28 };
  const [first, eighth] = [0, 7].map((earlierPassages) =>
    planTeaching(budgetOf(2_000_000), { ...passage, earlierPassages }),
  );
  assert.ok((eighth?.factCount ?? 0) < (first?.factCount ?? 0));
});

test('one dollar plans fewer forms than ten', () => {
  const passage = { factCount: 16, readingPromptTokens: 230, pairTokens: 28, earlierPassages: 0, templateReads: 0 };
  const [one, ten] = [planTeaching(budgetOf(990_000), passage), planTeaching(budgetOf(9_990_000), passage)];
  assert.ok(one !== null && one.factCount >= 12 && one.formsPerFact >= recipe.minFormsPerFact);
  assert.deepEqual(ten, { factCount: 16, formsPerFact: recipe.formsPerFact });
  assert.equal(planTeaching(budgetOf(1_000), passage), null);
});

test('more money never plans fewer facts, nor fewer forms for as many facts', () => {
  fc.assert(
    fc.property(size, fc.integer({ min: 0, max: 1e8 }), fc.integer({ min: 0, max: 1e8 }), (passage, a, b) => {
      const less = planTeaching(budgetOf(Math.min(a, b)), passage);
      const more = planTeaching(budgetOf(Math.max(a, b)), passage);
      if (less === null) return;
      assert.ok(more !== null && more.factCount >= less.factCount);
      if (more.factCount === less.factCount) assert.ok(more.formsPerFact >= less.formsPerFact);
    }),
  );
});

test('steps grow with the money, up to what the facts need', () => {
  assert.equal(planSteps(1000, 100, 10), null);
  assert.equal(planSteps(100 * recipe.minSteps, 100, 10), recipe.minSteps);
  assert.equal(planSteps(1e12, 100, 60), (60 * recipe.exposuresPerFact) / recipe.pairsPerBatch);
  assert.equal(planSteps(1e12, 100, 20), recipe.enoughSteps, 'few facts');
  assert.equal(planSteps(1e12, 100, 4), Math.ceil((4 * recipe.maxExposuresPerFact) / recipe.pairsPerBatch), 'very few');
});

const usage = fc
  .record({
    input_tokens: fc.integer({ min: 0, max: 2000 }),
    output_tokens: fc.integer({ min: 0, max: 300 }),
    training_tokens: fc.integer({ min: 0, max: 1000 }),
    cachedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ cachedShare, ...counts }) => ({
    ...counts,
    cached_input_tokens: Math.floor(counts.input_tokens * cachedShare),
  }));

test('whatever is called, the cap is never passed', () => {
  const call = fc.record({
    actual: usage,
    more: usage,
    settlesAtOnce: fc.boolean(),
    share: fc.constantFrom(0.35, 0.55, 1),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 60 }), fc.integer({ min: 0, max: 500_000 }), (calls, cap) => {
      const meter = new Meter(budgetOf(cap));
      const pending: (() => void)[] = [];
      for (const { actual, more, settlesAtOnce, share } of calls) {
        const worst = {
          input_tokens: actual.input_tokens + more.input_tokens,
          output_tokens: actual.output_tokens + more.output_tokens,
          cached_input_tokens: 0,
          training_tokens: actual.training_tokens + more.training_tokens,
        };
        if (!meter.tryHold(worst, share)) continue;
        const settle = (): void => meter.settle(worst, actual);
        if (settlesAtOnce) settle();
        else pending.push(settle);
        assert.ok(meter.freeNanousd() >= 0);
      }
      for (const settle of pending) settle();
      assert.ok(costNanousd(meter.usage, budgetOf(cap)) <= cap * 1000);
      assert.ok(meter.freeNanousd() >= 0);
    }),
  );
});

test('cached tokens are charged at their own rate, once', () => {
  const cached = { ...noUsage, input_tokens: 100, cached_input_tokens: 60 };
  assert.equal(costNanousd(cached, budgetOf(1)), 40 * 12_000 + 60 * 2_500);
  assert.deepEqual(subtractUsage(cached, cached), noUsage);
});

test('the rate falls with the model and over the run', () => {
  assert.ok(peakLearningRate(4e6) > peakLearningRate(5e8) && peakLearningRate(5e8) > peakLearningRate(7e9));
  const rates = Array.from({ length: 60 }, (_, step) => learningRateAt(step, 60, 1));
  assert.equal(Math.max(...rates), 1);
  assert.ok((rates[0] ?? 1) < 0.5 && Math.abs((rates[59] ?? 1) - recipe.finalRateShare) < 1e-9);
});

test('the rate rises by equal steps, then falls along half a wave', () => {
  const { warmupSteps, finalRateShare } = recipe;
  // The peak is reached at the step `warmupSteps - 1` and held for one more, from which the wave takes 60 steps to its end.
  const peak = 2;
  const rateAt = (step: number): number => learningRateAt(step, warmupSteps + 61, peak);
  const near = (step: number, share: number): void => {
    assert.ok(Math.abs(rateAt(step) - share * peak) < 1e-9, `${rateAt(step)} at step ${step}`);
  };
  for (let step = 0; step < warmupSteps; step += 1) near(step, (step + 1) / warmupSteps);
  // Of what is above the final rate a half wave keeps 3/4 after a third of its way, a half after the half, 1/4 after two thirds.
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
    [0, 1].map((step) => learningRateAt(step, 8, peak)),
    [1, 2],
    'a quarter of a short run at most',
  );
});
