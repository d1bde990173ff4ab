import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
import type { ScoringOutcome } from '../outcomes.js';
import { withSentences } from '../recipe/defaults.js';
import { formOf } from '../testing/forms.js';
import { baseRecipe } from '../testing/recipe.js';
import { chunkPassage } from '../text/chunk.js';
import { withSentenceAnswers } from './answeringSentences.js';

let engine: Engine;
before(async () => {
  engine = await startEngineHost({
    modelDir: fileURLToPath(new URL('../../../../models/base', import.meta.url)),
    threads: 1,
  });
});
after(() => engine.close());

const chunks = chunkPassage(
  'Ada Kell built it. The kiln that Ada Kell built burns wood from the hills of Orvale.',
  1500,
);
const fact = {
  answer: 'Ada Kell',
  training: [formOf('Who built it?'), formOf('Who built the kiln that burns wood?')],
  dev: [],
  validation: [formOf('Whose work is it?')],
  softTargets: null,
};
const scoring = { facts: [fact], known: [] };
const [short, long] = ['Ada Kell built it.', 'The kiln that Ada Kell built burns wood from the hills of Orvale.'];

async function taughtWith(maxAnswerTokens: number, sentences: ScoringOutcome['sentences'] = []): Promise<unknown> {
  const recipe = withSentences(baseRecipe);
  const evaluating = { ...recipe.evaluating, maxAnswerTokens };
  const { facts } = await withSentenceAnswers(engine, { ...scoring, sentences }, chunks, { ...recipe, evaluating });
  return facts.map(({ answer, isSentence, training, validation }) => ({
    answer,
    isSentence: isSentence === true,
    trained: training.map(({ question }) => question),
    heldOut: validation.length,
  }));
}

test('each sentence that fits into an answer is a fact with the questions that it answers', async () => {
  const [first, second] = ['Who built it?', 'Who built the kiln that burns wood?'];
  const valueOnly = { answer: 'Ada Kell', isSentence: false, trained: [], heldOut: 1 };
  const ofShort = { answer: short, isSentence: true, trained: [first], heldOut: 0 };
  const ofLong = { answer: long, isSentence: true, trained: [second], heldOut: 0 };
  assert.deepEqual(await taughtWith(96), [valueOnly, ofShort, ofLong]);
  const { tokens, targetStart } = await engine.encode(baseRecipe.prompts.closedBook(''), short);
  const shortTokens = tokens.length - targetStart;
  assert.deepEqual(await taughtWith(shortTokens), [valueOnly, { ...ofShort, trained: [first, second] }]);
  assert.deepEqual(await taughtWith(shortTokens - 1), [{ ...valueOnly, trained: [first, second] }]);
});

test('what was asked about a sentence joins its questions, each once', async () => {
  const asked = [{ sentence: long, questions: ['What burns wood?', 'who built the kiln that burns wood'] }];
  const facts = await taughtWith(96, asked);
  assert.deepEqual(Array.isArray(facts) && facts[2], {
    answer: long,
    isSentence: true,
    trained: ['Who built the kiln that burns wood?', 'What burns wood?'],
    heldOut: 0,
  });
});

test('where answers are values, none gets a sentence', async () => {
  assert.equal(await withSentenceAnswers(engine, scoring, chunks, baseRecipe), scoring);
});
