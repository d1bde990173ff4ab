import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine } from '@engraft/engine';
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
  training: [formOf('Who built it?')],
  dev: [],
  validation: [],
  softTargets: null,
};
const scoring = { facts: [fact], known: [] };

test('each fact is answered with the sentences that give it and fit into an answer', async () => {
  const recipe = withSentences(baseRecipe);
  const ofTokens = async (maxAnswerTokens: number): Promise<unknown> => {
    const evaluating = { ...recipe.evaluating, maxAnswerTokens };
    const { facts } = await withSentenceAnswers(engine, scoring, chunks, { ...recipe, evaluating });
    return facts.map(({ sentences }) => sentences);
  };
  const [short, long] = ['Ada Kell built it.', 'The kiln that Ada Kell built burns wood from the hills of Orvale.'];
  assert.deepEqual(await ofTokens(96), [[short, long]]);
  const { tokens, targetStart } = await engine.encode(recipe.prompts.closedBook(''), short);
  assert.deepEqual(await ofTokens(tokens.length - targetStart), [[short]]);
  assert.deepEqual(await ofTokens(tokens.length - targetStart - 1), [[]]);
});

test('where answers are values, none gets a sentence', async () => {
  assert.equal(await withSentenceAnswers(engine, scoring, chunks, baseRecipe), scoring);
});
