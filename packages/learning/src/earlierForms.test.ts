import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formSchema, isOnlyTrained, isTrusted, type Form } from './facts.js';

function earlier(origin: string, more: object = {}): Form {
  return formSchema.parse({ question: 'Who built it?', origin, ...more });
}

test('a job that an earlier release began goes on with its forms', () => {
  const { standing, testRank, plainRank } = earlier('template', { relation: 'builder' });
  assert.deepEqual([standing, testRank, plainRank], ['question', 0, 1]);
  assert.equal(earlier('rephrased').testRank, 2);
  assert.equal(earlier('derived').plainRank, 0);
  assert.equal(earlier('stated').quoted, true);
  for (const origin of ['keywords', 'cloze']) assert.ok(isOnlyTrained(earlier(origin)) && !isTrusted(earlier(origin)));
  assert.ok(isOnlyTrained(earlier('recognised')) && isTrusted(earlier('recognised')));
});

test('forms of now are read as they are, and what is neither is refused', () => {
  const form = { question: 'Who?', origin: 'asked', standing: 'gap', testRank: 7, plainRank: 8 };
  assert.deepEqual(formSchema.parse(form), form);
  assert.throws(() => earlier('invented'));
  assert.throws(() => formSchema.parse({ ...form, standing: 'loud' }));
});
