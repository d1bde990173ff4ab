import assert from 'node:assert/strict';
import test from 'node:test';
import { rehearsedQuestions } from '@engraft/learning/parts';
import { isRight } from './asking.js';
import { knownFacts, knownSums } from './knownTasks.js';

const all = [...knownFacts, ...knownSums];

test('no task is one that training rehearses', () => {
  const rehearsed = new Set(rehearsedQuestions.map((question) => question.toLowerCase()));
  assert.ok(rehearsed.size > 150);
  assert.deepEqual(
    all.filter(({ question }) => rehearsed.has(question.toLowerCase())),
    [],
  );
});

test('no task stands there twice', () => {
  assert.equal(new Set(all.map(({ question }) => question.toLowerCase())).size, all.length);
});

test('a sentence with the answer is right, and one with another task’s answer is not', () => {
  for (const asked of all) {
    assert.ok(isRight(asked, `The answer is ${asked.answers[0] ?? ''}.`), asked.question);
    assert.ok(!isRight(asked, 'I do not know.'), asked.question);
  }
  assert.ok(!isRight({ question: 'What is 2 + 3?', answers: ['5'] }, '15'));
});
