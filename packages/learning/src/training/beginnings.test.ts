import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrainingExample } from '@engraft/engine';
import fc from 'fast-check';
import { defaultRecipe, withSentences } from '../recipe/defaults.js';
import { beginningOf, mostlyBeginnings, shownTokens } from './beginnings.js';

const told = withSentences(defaultRecipe(135e6));
const { beginningTokens } = told.replay;
const { wholeSentenceEvery } = told.training;

function rowOf(answerTokens: number): TrainingExample {
  const tokens = Array.from({ length: 5 + answerTokens }, (_, index) => index);
  return { sequence: { tokens, targetStart: 5 }, weight: 2 };
}

function answerOf({ sequence: { tokens, targetStart } }: TrainingExample): readonly number[] {
  return tokens.slice(targetStart);
}

test('a beginning has the first tokens of the answer, and what belongs to them', () => {
  const whole = {
    ...rowOf(4),
    targetWeights: [0.7, 0.1, 0.1, 0.1],
    softTargets: [1, 2, 3, 4].map((id) => ({ ids: [id], logprobs: [0] })),
  };
  assert.deepEqual(beginningOf(whole, 2), {
    sequence: { tokens: [0, 1, 2, 3, 4, 5, 6], targetStart: 5 },
    weight: 2,
    targetWeights: [0.7, 0.1],
    softTargets: [1, 2].map((id) => ({ ids: [id], logprobs: [0] })),
  });
  for (const count of [4, 9]) assert.equal(beginningOf(whole, count), whole);
});

test('where answers are sentences one row in three is whole, and the first is', () => {
  assert.equal(wholeSentenceEvery, 3);
  const rows = Array.from({ length: 9 }, () => rowOf(40));
  const lengths = [...mostlyBeginnings(rows, told)].map((row) => answerOf(row).length);
  assert.deepEqual(lengths, Array.from({ length: 3 }, () => [40, beginningTokens, beginningTokens]).flat());
});

test('where answers are values all rows are whole', () => {
  const rows = [40, 3, 40].map(rowOf);
  assert.deepEqual([...mostlyBeginnings(rows, defaultRecipe(135e6))], rows);
});

test('what rows show on average is what is expected of them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 5 }), (length, every) => {
      const recipe = { ...told, training: { ...told.training, wholeSentenceEvery: every } };
      const rows = [
        ...mostlyBeginnings(
          Array.from({ length: 6 * every }, () => rowOf(length)),
          recipe,
        ),
      ];
      const mean = rows.reduce((sum, row) => sum + answerOf(row).length, 0) / rows.length;
      assert.ok(Math.abs(mean - shownTokens(length, recipe)) < 1e-9, `${mean} and ${shownTokens(length, recipe)}`);
    }),
  );
});
