import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formOf } from '../testing/forms.js';
import { baseRecipe } from '../testing/recipe.js';
import { splitFresh } from './fresh.js';
import type { ScoredFact } from './gain.js';

function scored(answer: string, questionCount: number, gainNats: number | null): ScoredFact {
  const forms = Array.from({ length: questionCount }, (_, index) => formOf(`Who or what is ${answer} of ${index}?`));
  return { chunk: 0, sentenceStart: 0, answer, salience: 1, forms, gainNats, softTargets: null };
}

const learnedAnswers = (facts: readonly ScoredFact[]): [learned: string[], known: string[]] => {
  const { split, known } = splitFresh(facts, 1, baseRecipe);
  return [split.map(({ answer }) => answer), known.map(({ answer }) => answer)];
};

test('what the subject knows is left out, unless it was not measured', () => {
  const facts = [scored('Ada', 4, 3), scored('Bo', 4, 0), scored('Cy', 4, null)];
  assert.deepEqual(learnedAnswers(facts), [['Ada', 'Cy'], ['Bo']]);
});

test('a passage with too little news to test is learned as a whole', () => {
  assert.deepEqual(learnedAnswers([scored('Ada', 3, 3), scored('Bo', 4, 0), scored('Cy', 4, 0)]), [
    ['Ada', 'Bo', 'Cy'],
    [],
  ]);
  assert.deepEqual(learnedAnswers([scored('Bo', 4, 0)]), [['Bo'], []]);
});
