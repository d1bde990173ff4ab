import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type EngineHost } from '@engraft/engine';
import { withSentences } from '../recipe/defaults.js';
import { modelTeacher } from '../teachers/model/modelTeacher.js';
import { callsFor } from '../testing/calls.js';
import { formOf } from '../testing/forms.js';
import { baseRecipe } from '../testing/recipe.js';
import { chunkPassage } from '../text/chunk.js';
import { askAboutPoorSentences, type PoorSentence } from './poorSentences.js';
import type { Teacher } from './teacher.js';

const text = 'Ada Kell built the kiln. It burns wood from the hills of Orvale. Nobody else may use it.';
const passage = { text, chunks: chunkPassage(text, 1500) };
const recipe = withSentences(baseRecipe, 14);
const facts = [
  { answer: 'Ada Kell', forms: Array.from({ length: 20 }, (_, index) => formOf(`Who built kiln ${String(index)}?`)) },
  { answer: 'wood', forms: [formOf('What does it burn?')] },
];
const teacher = modelTeacher(recipe, null);

let engine: EngineHost;
before(async () => {
  engine = await startEngineHost({
    modelDir: fileURLToPath(new URL('../../../../models/base', import.meta.url)),
    threads: 1,
  });
});
after(() => engine.close());

test('only sentences that few questions ask for are asked about, with what stands before them', async () => {
  let asked: readonly PoorSentence[] = [];
  const listening: Teacher = {
    ...teacher,
    askAbout: (_, sentences) => {
      asked = sentences;
      return Promise.resolve([[{ question: 'What burns?', answer: 'wood' }], [{ question: 'Who?', answer: 'else' }]]);
    },
  };
  const given = await askAboutPoorSentences(callsFor(engine, 1_000_000), passage, facts, listening, 1, recipe);
  const [first, second, third] = passage.chunks[0]?.sentences.map((sentence) => sentence.text) ?? [];
  assert.deepEqual(asked, [
    { text: second, before: first, missing: 13 },
    { text: third, before: second, missing: 14 },
  ]);
  assert.deepEqual(given, [
    { sentence: second?.trim(), questions: ['What burns?'] },
    { sentence: third?.trim(), questions: ['Who?'] },
  ]);
});

test('nothing is asked where answers are values, where nobody wants it, or by a teacher that cannot', async () => {
  const silent: Teacher = {
    name: teacher.name,
    measure: (...given) => teacher.measure(...given),
    teach: (...given) => teacher.teach(...given),
    confirm: (...given) => teacher.confirm(...given),
    reading: (...given) => teacher.reading(...given),
  };
  const calls = callsFor(engine, 1_000_000);
  for (const otherwise of [baseRecipe, withSentences(baseRecipe)]) {
    assert.equal(await askAboutPoorSentences(calls, passage, facts, teacher, 1, otherwise), null);
  }
  assert.equal(await askAboutPoorSentences(calls, passage, facts, silent, 1, recipe), null);
});

test('a model asks different questions, the same for a seed, and none without money', async () => {
  const ask = (maxComputeMicrousd: number) =>
    askAboutPoorSentences(callsFor(engine, maxComputeMicrousd), passage, facts, teacher, 7, recipe);
  const asked = (await ask(20_000_000)) ?? [];
  assert.deepEqual(await ask(20_000_000), asked);
  assert.deepEqual(await ask(1), []);
  assert.ok(asked.length > 0);
  for (const { sentence, questions } of asked) {
    assert.ok(text.includes(sentence));
    assert.equal(new Set(questions).size, questions.length);
  }
});
