import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { questionKey, type Fact } from '../facts.js';
import { wordTokens } from '../text/normalise.js';
import { formOf } from '../testing/forms.js';
import { baseRecipe } from '../testing/recipe.js';
import { splitFacts as split, type SplitFact } from './split.js';

const recipe = baseRecipe.split;

function splitFacts(facts: readonly Fact[], seed: number): SplitFact[] {
  return split(facts, seed, recipe);
}

function factOf(answer: string, questions: readonly string[], cloze: readonly string[] = []): Fact {
  return {
    chunk: 0,
    sentenceStart: 0,
    answer,
    salience: 1,
    forms: [...questions.map((question) => formOf(question)), ...cloze.map((question) => formOf(question, 'gap'))],
  };
}

test('every fact with two questions holds one out; one alone, and cloze forms, are trained', () => {
  const [two, one] = splitFacts(
    [
      factOf('Porto', ['Where is Orin Works?', 'In which city does Orin Works sit?'], ['Complete: Orin Works is in']),
      factOf('1987', ['When was Orin Works founded?']),
    ],
    1,
  );
  assert.equal(two?.validation.length, 1);
  assert.equal(two.training.length, 2);
  assert.deepEqual([one?.training.length, one?.validation.length], [1, 0]);
});

test('a question that the teacher could not answer tests nothing', () => {
  const fact = factOf('Porto', ['Where is Orin Works?', 'In which city does Orin Works sit?']);
  const forms = fact.forms.map((form, index) => (index === 1 ? { ...form, unanswered: true } : form));
  for (let seed = 1; seed <= 8; seed++) {
    const [one] = splitFacts([{ ...fact, forms }], seed);
    assert.ok(one !== undefined);
    assert.ok(one.training.some(({ unanswered }) => unanswered === true));
    assert.equal(one.validation.filter(({ unanswered }) => unanswered === true).length, 0);
  }
});

test('a sentence that is only turned into a question tests nothing, however few others there are', () => {
  const { forms, ...fact } = factOf('€7', ['How much is a single for a child?', 'What does a child pay for a single?']);
  const restated = formOf('What is the single fare for Child?', 'restated');
  for (let seed = 1; seed <= 8; seed++) {
    const [two] = splitFacts([{ ...fact, forms: [restated, ...forms] }], seed);
    assert.ok(two !== undefined);
    assert.ok(two.training.includes(restated));
    assert.equal(two.validation.length, 1);
    const [alone] = splitFacts([{ ...fact, forms: [restated, ...forms.slice(1)] }], seed);
    assert.equal(alone?.validation.length, 0);
  }
});

test('of a single fact with enough questions, as many are held out as the gate needs', () => {
  const questions = ['Where is Orin?', 'In what city is Orin?', 'Which town has Orin?', 'What place is home to Orin?'];
  const [four] = splitFacts([factOf('Porto', questions)], 1);
  assert.equal(four?.validation.length, recipe.minValidationPairs);
  const [three] = splitFacts([factOf('Porto', questions.slice(1))], 1);
  assert.equal(three?.validation.length, 1, 'never more than half');
});

test('a fact that nothing can be held out of does not lessen what is held out of others', () => {
  const questions = ['Where is Orin?', 'In what city is Orin?', 'Which town has Orin?', 'What place is home to Orin?'];
  const unanswered = { ...formOf('In which year did Orin begin?'), unanswered: true };
  const poor = factOf('1987', ['When was Orin founded?']);
  const facts = [factOf('Porto', questions), { ...poor, forms: [...poor.forms, unanswered] }];
  assert.deepEqual(
    splitFacts(facts, 1).map(({ validation }) => validation.length),
    [recipe.minValidationPairs, 0],
  );
});

test('a held-out question that repeats eight words of a trained one goes to training', () => {
  const long = 'who made the very first red lamp of the town';
  const facts = [factOf('Anna', [`Tell me, ${long}?`, `So ${long}?`])];
  const [fact] = splitFacts(facts, 1);
  assert.equal(fact?.validation.length, 0);
  assert.equal(fact.training.length, 2);
});

test('validation never leaks, and no question is lost', () => {
  const question = fc
    .array(fc.constantFrom('who', 'made', 'the', 'red', 'lamp', 'of', 'anna'), { minLength: 3, maxLength: 14 })
    .map((words) => `${words.join(' ')}?`);
  const facts = fc.array(fc.uniqueArray(question, { maxLength: 8, selector: questionKey }), { maxLength: 8 });
  fc.assert(
    fc.property(facts, fc.integer(), (questions, seed) => {
      const input = questions.map((ofFact, index) => factOf(String(index), ofFact));
      const parted = splitFacts(input, seed);
      const used = parted.flatMap(({ training, dev }) => [...training, ...dev].map((form) => form.question));
      const runs = new Set(used.flatMap(eightGrams));
      for (const { validation } of parted) {
        for (const form of validation) {
          assert.ok(!used.some((other) => questionKey(other) === questionKey(form.question)));
          assert.ok(!eightGrams(form.question).some((run) => runs.has(run)));
        }
      }
      const total = parted.flatMap(({ training, dev, validation }) => [...training, ...dev, ...validation]).length;
      assert.equal(total, questions.flat().length);
    }),
  );
});

function eightGrams(text: string): string[] {
  const words = wordTokens(text);
  return words.slice(7).map((_, end) => words.slice(end, end + 8).join(' '));
}
