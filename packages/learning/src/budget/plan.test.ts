import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planSteps as stepsOf, planTeaching as planOf, type PassageSize, type TeachingPlan } from './plan.js';
import { costNanousd, Meter, noUsage, subtractUsage } from './meter.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import type { LearningBudget } from '../types.js';

const publishedRates = {
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
};

const { teaching, training } = recipe;

function planTeaching(budget: LearningBudget, size: PassageSize): TeachingPlan | null {
  return planOf(budget, size, recipe);
}

function planSteps(freeNanousd: number, stepNanousd: number, factCount: number): number | null {
  return stepsOf(freeNanousd, stepNanousd, factCount, training);
}

function budgetOf(maxComputeMicrousd: number): LearningBudget {
  return { max_compute_microusd: maxComputeMicrousd, ...publishedRates };
}

const size = fc.record({
  factCount: fc.integer({ min: 0, max: 300 }),
  readingPromptTokens: fc.integer({ min: 30, max: 1500 }),
  pairTokens: fc.integer({ min: 10, max: 60 }),
  trainedPairTokens: fc.integer({ min: 10, max: 60 }),
  earlierPassages: fc.nat(12),
  extraReads: fc.nat(40),
});

test('what rehearses earlier passages leaves room for fewer facts', () => {
  fc.assert(
    fc.property(size, fc.integer({ min: 0, max: 20_000_000 }), (passage, cap) => {
      const facts = (earlierPassages: number): number =>
        planTeaching(budgetOf(cap), { ...passage, earlierPassages })?.factCount ?? 0;
      assert.ok(facts(passage.earlierPassages + 1) <= facts(passage.earlierPassages));
    }),
  );
  const passage = { extraReads: 0, factCount: 160, readingPromptTokens: 100, pairTokens: 28, trainedPairTokens: 28 };
  const [first, eighth] = [0, 7].map((earlierPassages) =>
    planTeaching(budgetOf(2_000_000), { ...passage, earlierPassages }),
  );
  assert.ok((eighth?.factCount ?? 0) < (first?.factCount ?? 0));
});

test('one dollar plans fewer forms than ten', () => {
  const passage = {
    factCount: 16,
    readingPromptTokens: 230,
    pairTokens: 28,
    trainedPairTokens: 28,
    earlierPassages: 0,
    extraReads: 0,
  };
  const [one, ten] = [planTeaching(budgetOf(990_000), passage), planTeaching(budgetOf(9_990_000), passage)];
  assert.ok(one !== null && one.factCount >= 12 && one.formsPerFact >= teaching.minFormsPerFact);
  assert.deepEqual(ten, { factCount: 16, formsPerFact: teaching.formsPerFact });
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
  assert.equal(planSteps(100 * training.minSteps, 100, 10), training.minSteps);
  assert.equal(planSteps(1e12, 100, 60), (60 * training.exposuresPerFact) / training.pairsPerBatch);
  assert.equal(planSteps(1e12, 100, 20), training.enoughSteps, 'few facts');
  assert.equal(
    planSteps(1e12, 100, 4),
    Math.ceil((4 * training.maxExposuresPerFact) / training.pairsPerBatch),
    'very few',
  );
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
