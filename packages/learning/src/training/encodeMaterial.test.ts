import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startEngineHost, type Engine, type TrainingExample } from '@engraft/engine';
import type { ScoringOutcome } from '../outcomes.js';
import { formOf } from '../testing/forms.js';
import { withSentences } from '../recipe/defaults.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import type { Recipe } from '../recipe/recipe.js';
import type { ReplayRow } from '../types.js';
import { encodeMaterial } from './material.js';
import { replayPrompt } from './replay.js';

let engine: Engine;
before(async () => {
  const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));
  engine = await startEngineHost({ modelDir, threads: 1 });
});
after(() => engine.close());

test('nothing that is trained shares eight words with a held-out question', async () => {
  const heldOut = 'In which of the towns by the sea does Orin Works sit?';
  const near = 'Tell me in which of the towns by the sea it is?';
  const split: ScoringOutcome = {
    facts: [
      {
        answer: 'Porto',
        training: [formOf('Where is Orin Works?')],
        dev: [],
        validation: [formOf(heldOut)],
        softTargets: null,
      },
    ],
    known: [
      { question: near, answer: 'Porto' },
      { question: 'Who runs the mill?', answer: 'Anna' },
    ],
  };
  const trainingPairs = [heldOut, near, 'Where is Orin Works?', 'When was the mill built?'].map((question) => ({
    question,
    answer: 'Lisbon',
  }));
  const rows = [near, 'Hello!'].map((content): ReplayRow => ({
    messages: [
      { role: 'user', content },
      { role: 'assistant', content: 'Yes.' },
    ],
  }));
  const material = await encodeMaterial(
    engine,
    split,
    [{ training_pairs: trainingPairs, validation_pairs: [] }],
    rows,
    recipe,
  );
  const tokensOf = async (question: string, answer: string): Promise<readonly number[]> =>
    (await engine.encode(recipe.prompts.closedBook(question), answer)).tokens;
  const tokens = ({ sequence }: TrainingExample): readonly number[] => sequence.tokens;
  assert.deepEqual(material.rehearsal.flat().map(tokens), [await tokensOf('When was the mill built?', 'Lisbon')]);
  assert.deepEqual(material.replay.map(tokens), [await tokensOf('Hello!', 'Yes.')]);
  assert.deepEqual(material.known.map(tokens), [await tokensOf('Who runs the mill?', 'Anna')]);
});

test('where answers are sentences, replies begin as they do, and what does not exist is not known', async () => {
  const row: ReplayRow = {
    messages: [
      { role: 'user', content: 'What is rain?' },
      { role: 'assistant', content: 'Rain is water that falls from clouds, and it fills rivers, lakes and seas.' },
    ],
  };
  const told = withSentences(recipe);
  const encoded = (rows: readonly ReplayRow[], of: Recipe): ReturnType<typeof encodeMaterial> =>
    encodeMaterial(engine, { facts: [], known: [] }, [], rows, of);
  const material = await encoded([row, { ...row, beginning: true }], told);
  const [whole, ...otherRows] = material.replay;
  assert.deepEqual([otherRows, material.protectedDirections.length], [[], 1]);
  const [beginning, ...others] = material.beginnings;
  assert.deepEqual(others, []);
  assert.ok(whole !== undefined && beginning !== undefined);
  const { tokens, targetStart } = beginning.sequence;
  assert.equal(tokens.length - targetStart, told.replay.beginningTokens);
  assert.deepEqual(tokens, whole.sequence.tokens.slice(0, tokens.length));
  assert.equal(targetStart, whole.sequence.targetStart);
  const answers = material.unknown.map(({ sequence }) => sequence.tokens.slice(sequence.targetStart).join());
  assert.ok(answers.length > 100);
  assert.equal(new Set(answers).size, 1, 'one answer to all of them');
  const questions = material.unknown.map(({ sequence }) => sequence.tokens.join());
  assert.equal(new Set(questions).size, questions.length, 'each question once');
  const without = await encoded([row], told);
  assert.deepEqual([without.beginnings, without.unknown], [[], []], 'alone they would teach that nothing is known');
  assert.equal(without.replay.length, 1);
  const ofValues = await encoded([row, { ...row, beginning: true }], recipe);
  assert.deepEqual([ofValues.beginnings, ofValues.replay.length], [[], 1]);
  assert.deepEqual(ofValues.unknown, material.unknown, 'beside values it needs no beginnings');
});

test('a trained question about another name is not known', async () => {
  const [asked, heldOut] = ['Who founded Velona?', 'Who first thought of Velona?'].map((question) => formOf(question));
  assert.ok(asked !== undefined && heldOut !== undefined);
  const training = [asked, formOf('founded Velona', 'words'), formOf('Who was it?')];
  const fact = { answer: 'Ada Kell', training, dev: [], validation: [heldOut], softTargets: null };
  const { renamed } = await encodeMaterial(engine, { facts: [fact], known: [] }, [], [], recipe);
  const [row, ...others] = renamed;
  assert.ok(row !== undefined && others.length === 0, 'one for each question that people ask and that has a name');
  const { tokens } = await engine.encode(recipe.prompts.closedBook('Who founded Velona?'), recipe.prompts.unknown);
  assert.notDeepEqual(row.sequence.tokens, tokens, 'the name is another one');
  assert.deepEqual(
    row.sequence.tokens.slice(row.sequence.targetStart),
    tokens.slice(-row.sequence.tokens.length + row.sequence.targetStart),
  );
});

test('where answers are sentences, rows that must be exact have a place of their own in a batch', async () => {
  const [sum, object, remark] = [
    ['What is 2 + 9?', '2 + 9 = 11'],
    ['As JSON with name: Ada', '{ "name": "Ada" }'],
    ['What is rain?', 'Rain is water that falls from clouds.'],
  ].map(([asked = '', told = '']): ReplayRow => ({
    messages: [
      { role: 'user', content: asked },
      { role: 'assistant', content: told },
    ],
  }));
  assert.ok(sum !== undefined && object !== undefined && remark !== undefined);
  const rows = [{ ...sum, exact: true }, { ...object, exact: true }, remark];
  const encoded = (of: Recipe) => encodeMaterial(engine, { facts: [], known: [] }, [], rows, of);
  const tokens = async (row: ReplayRow): Promise<readonly number[]> => {
    const { prompt, completion } = replayPrompt(row);
    return (await engine.encode(prompt, completion)).tokens;
  };
  const tokensOf = (examples: readonly TrainingExample[]) => examples.map(({ sequence }) => sequence.tokens);
  const apart = await encoded(withSentences(recipe));
  assert.deepEqual([apart.exact, apart.objects, apart.replay].map(tokensOf), [
    [await tokens(sum)],
    [await tokens(object)],
    [await tokens(remark)],
  ]);
  assert.equal(apart.protectedDirections.length, 3);
  const together = await encoded(recipe);
  assert.deepEqual(
    [together.exact, together.objects, tokensOf(together.replay)],
    [[], [], [await tokens(sum), await tokens(object), await tokens(remark)]],
  );
});

test('a call that a passage quotes is learned as text, and the calls of the model’s own rows stay calls', async () => {
  const call = '<tool_call>\n{"name": "pay", "arguments": {}}\n</tool_call>';
  const question = 'What does the note say?';
  const split: ScoringOutcome = {
    facts: [
      {
        answer: call,
        training: [formOf(question)],
        dev: [formOf(`${question} ${call}`)],
        validation: [],
        softTargets: null,
      },
    ],
    known: [{ question: 'And the other?', answer: call }],
  };
  const row: ReplayRow = {
    messages: [
      { role: 'user', content: 'Pay it.' },
      { role: 'assistant', content: call },
    ],
  };
  const earlier = [{ training_pairs: [{ question: 'And before?', answer: call }], validation_pairs: [] }];
  const material = await encodeMaterial(engine, split, earlier, [row], recipe);
  // The ids of `<tool_call>` and `</tool_call>` in the shipped tokenizer.
  const markupIn = ({ sequence: { tokens } }: TrainingExample) => tokens.filter((id) => id === 3 || id === 4);
  const { facts, dev, known, rehearsal } = material;
  const learned = [...facts.flatMap(({ questions }) => questions), ...dev, ...known, ...rehearsal.flat()];
  assert.ok(learned.length >= 4);
  for (const example of learned) assert.deepEqual(markupIn(example), []);
  assert.deepEqual(material.replay.map(markupIn), [[3, 4]]);
});

test('a question is trained on the nearest sentence, without soft targets, unless it is too close to a held-out one', async () => {
  const answer = 'Orin Works, a mill in Porto, opened in 1874.';
  const question = 'Where did Orin Works open?';
  const trained = await engine.encode(recipe.prompts.closedBook(question), answer);
  // As many as the sentence has tokens, so that nothing else keeps them out.
  const softTargets = trained.tokens.slice(trained.targetStart).map(() => ({ ids: [1], logprobs: [0] }));
  const heldOut = 'In which year did the old mill of Orin Works in Porto open its gates?';
  const training = [formOf(question), formOf(heldOut.replace('In which year', 'When'))];
  const split = {
    facts: [
      {
        answer: 'Porto',
        sentences: [answer, 'Porto has a harbour.'],
        training,
        dev: [],
        validation: [formOf(heldOut)],
        softTargets,
      },
    ],
    known: [],
  };
  const { facts } = await encodeMaterial(engine, split, [], [], {
    ...recipe,
    teaching: { ...recipe.teaching, enoughForms: 1 },
  });
  assert.deepEqual(facts[0]?.questions, [{ sequence: trained, weight: 1 }]);
});
