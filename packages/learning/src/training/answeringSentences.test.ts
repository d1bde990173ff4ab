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

async function taughtWith(
  maxAnswerTokens: number,
  sentences: NonNullable<ScoringOutcome['sentences']> | null,
): Promise<{ answer: string; sentences: readonly string[] | undefined; trained: string[]; heldOut: number }[]> {
  const recipe = withSentences(baseRecipe);
  const evaluating = { ...recipe.evaluating, maxAnswerTokens };
  const asked = { ...scoring, ...(sentences === null ? {} : { sentences }) };
  const { facts } = await withSentenceAnswers(engine, asked, chunks, { ...recipe, evaluating });
  return facts.map(({ training, validation, ...fact }) => ({
    answer: fact.answer,
    sentences: fact.sentences,
    trained: training.map(({ question }) => question),
    heldOut: validation.length,
  }));
}

async function tokensOfShort(): Promise<number> {
  const { tokens, targetStart } = await engine.encode(baseRecipe.prompts.closedBook(''), short);
  return tokens.length - targetStart;
}

const [first, second] = ['Who built it?', 'Who built the kiln that burns wood?'];

test('each fact is answered with the sentences that give it and fit into an answer', async () => {
  const ofFact = { answer: 'Ada Kell', trained: [first, second], heldOut: 1 };
  assert.deepEqual(await taughtWith(96, null), [{ ...ofFact, sentences: [short, long] }]);
  const shortTokens = await tokensOfShort();
  assert.deepEqual(await taughtWith(shortTokens, null), [{ ...ofFact, sentences: [short] }]);
  assert.deepEqual(await taughtWith(shortTokens - 1, null), [{ ...ofFact, sentences: [] }]);
});

test('where sentences were asked about, each that fits is a fact with the questions that it answers', async () => {
  const ofFact = { answer: 'Ada Kell', sentences: [short, long], trained: [], heldOut: 1 };
  const ofShort = { answer: short, sentences: [short], trained: [first], heldOut: 0 };
  const ofLong = { answer: long, sentences: [long], trained: [second], heldOut: 0 };
  assert.deepEqual(await taughtWith(96, []), [ofFact, ofShort, ofLong]);
  const shortTokens = await tokensOfShort();
  const onlyShort = [
    { ...ofFact, sentences: [short] },
    { ...ofShort, trained: [first, second] },
  ];
  assert.deepEqual(await taughtWith(shortTokens, []), onlyShort);
  assert.deepEqual(await taughtWith(shortTokens - 1, []), [{ ...ofFact, sentences: [], trained: [first, second] }]);
});

test('what was asked about a sentence joins its questions, each once', async () => {
  const asked = [{ sentence: long, questions: ['What burns wood?', 'who built the kiln that burns wood'] }];
  const facts = await taughtWith(96, asked);
  assert.deepEqual(facts[2], { answer: long, sentences: [long], trained: [second, 'What burns wood?'], heldOut: 0 });
});

test('where answers are values, none gets a sentence', async () => {
  assert.equal(await withSentenceAnswers(engine, scoring, chunks, baseRecipe), scoring);
});
