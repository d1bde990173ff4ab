import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrainingExample } from '@engraft/engine';
import type { Form } from '../facts.js';
import { formOf } from '../testing/forms.js';
import { batches, replayDrawn, type BatchRecipe } from './batches.js';
import { retentionPairs, trainedQuestions, type Material } from './material.js';
import type { ScoringOutcome } from '../outcomes.js';
import { baseRecipe as recipe } from '../testing/recipe.js';
import type { QuestionAnswer, Rehearsal, ReplayRow } from '../types.js';

function exampleOf(token: number): TrainingExample {
  return { sequence: { tokens: [token, token], targetStart: 1 }, weight: 1 };
}

const material: Material = {
  facts: [[1, 2, 3, 4, 5, 6], [11], [21, 22]].map((tokens) => ({ questions: tokens.map(exampleOf), keywords: [] })),
  dev: [],
  replay: [100, 101].map(exampleOf),
  exact: [],
  objects: [],
  beginnings: [],
  unknown: [],
  renamed: [],
  protectedDirections: [],
  known: [],
  rehearsal: [],
};

function tokensOfBatches(seed: number, count: number, of = material): number[][] {
  const stream = batches(of, seed, recipe);
  return Array.from({ length: count }, () => stream.next().value.map(({ sequence }) => sequence.tokens[0] ?? -1));
}

test('every fact is seen as often as any other, its forms in turn, with replay beside', () => {
  const drawn = tokensOfBatches(3, 30);
  for (const batch of drawn) assert.equal(batch.length, recipe.training.pairsPerBatch + recipe.replay.rowsPerBatch);
  const all = drawn.flat();
  const seen = (from: number, to: number): number => all.filter((token) => token >= from && token < to).length;
  const exposures = [seen(1, 10), seen(10, 20), seen(20, 30)];
  assert.ok(Math.max(...exposures) - Math.min(...exposures) <= 1, exposures.join(' '));
  const forms = [1, 2, 3, 4, 5, 6].map((token) => seen(token, token + 1));
  assert.ok(Math.max(...forms) - Math.min(...forms) <= 1, forms.join(' '));
});

test('earlier passages are rehearsed in turn, by more rows the more of them there are', () => {
  const passages = [[201, 202, 203], [211], [221, 222]].map((tokens) => tokens.map(exampleOf));
  const rowsWith = (count: number): number[][] =>
    tokensOfBatches(3, 30, { ...material, rehearsal: passages.slice(0, count) }).map((batch) =>
      batch.filter((token) => token > 200),
    );
  const { rehearsedPerPassage } = recipe.replay;
  for (const rows of rowsWith(1)) assert.equal(rows.length, 2 * rehearsedPerPassage);
  for (const rows of rowsWith(3)) assert.equal(rows.length, 4 * rehearsedPerPassage);
  const all = rowsWith(3).flat();
  const rehearsed = [20, 21, 22].map((tens) => all.filter((token) => Math.floor(token / 10) === tens).length);
  assert.deepEqual(new Set(rehearsed), new Set([40 * rehearsedPerPassage]));
  const many = Array.from({ length: 20 }, (_, index) => [exampleOf(300 + index)]);
  const [batch = []] = tokensOfBatches(3, 1, { ...material, rehearsal: many });
  assert.equal(batch.filter((token) => token >= 300).length, recipe.replay.maxRehearsalPerBatch);
});

test('the replay rows that so many batches show are known beforehand', () => {
  const replay = Array.from({ length: 30 }, (_, index) => exampleOf(100 + index));
  const many = { ...material, replay, known: [200, 201].map(exampleOf) };
  for (const count of [1, 5, 40]) {
    const seen = new Set(tokensOfBatches(7, count, many).flat());
    assert.deepEqual(
      replayDrawn(many, 7, count, recipe),
      replay.filter(({ sequence }) => seen.has(sequence.tokens[0] ?? -1)),
    );
  }
  assert.equal(replayDrawn(many, 7, 40, recipe).length, replay.length);
});

const beside: BatchRecipe = {
  training: recipe.training,
  replay: {
    ...recipe.replay,
    exactRowsPerBatch: 2,
    beginningRowsPerBatch: 3,
    unknownRowsPerBatch: 2,
  },
};

test('exact rows, beginnings and questions about unknown things stand beside the pairs of each batch, in turn', () => {
  const beginnings = Array.from({ length: 7 }, (_, index) => exampleOf(500 + index));
  const unknown = [600, 601].map(exampleOf);
  const renamed = [650, 651].map(exampleOf);
  const [exact, objects] = [[700, 701].map(exampleOf), [702, 703].map(exampleOf)];
  const all = { ...material, exact, objects, beginnings, unknown, renamed };
  const stream = batches(all, 3, beside);
  const drawn = Array.from({ length: 14 }, () => stream.next().value.map(({ sequence }) => sequence.tokens[0] ?? -1));
  for (const batch of drawn) {
    assert.equal(batch.filter((token) => token >= 500 && token < 600).length, 3);
    assert.equal(batch.filter((token) => token >= 600 && token < 650).length, 1);
    assert.equal(batch.filter((token) => token >= 650 && token < 700).length, 1);
    assert.equal(batch.filter((token) => token >= 700).length, 2);
  }
  for (const { sequence } of [...beginnings, ...unknown, ...renamed, ...exact, ...objects]) {
    const times = drawn.flat().filter((token) => token === sequence.tokens[0]).length;
    assert.equal(times, sequence.tokens[0]! < 600 ? 6 : 7);
  }
  const scored = replayDrawn(all, 3, 14, beside);
  const wanted = [...material.replay, ...exact, ...beginnings];
  assert.deepEqual(scored, wanted, 'base is asked for neither pairs nor unknown things nor objects');
});

test('the same seed gives the same batches', () => {
  assert.deepEqual(tokensOfBatches(5, 4), tokensOfBatches(5, 4));
  assert.notDeepEqual(tokensOfBatches(5, 4), tokensOfBatches(6, 4));
});

test('a fact is seen as often as any other, whatever its forms are made of', () => {
  const rows = (...tokens: number[]): TrainingExample[] => tokens.map(exampleOf);
  const facts = [
    { questions: rows(1, 2, 3), keywords: [] },
    { questions: [], keywords: rows(11, 12) },
    { questions: rows(21), keywords: rows(22, 23, 24, 25, 26, 27, 28, 29) },
  ];
  const drawn = tokensOfBatches(4, 30, { ...material, facts }).flatMap((batch) =>
    batch.slice(0, recipe.training.pairsPerBatch),
  );
  const exposures = [0, 1, 2].map((tens) => drawn.filter((token) => Math.floor(token / 10) === tens).length);
  const each = (30 * recipe.training.pairsPerBatch) / facts.length;
  assert.deepEqual(exposures, [each, each, each]);
});

test('however many forms are made of the words of a sentence, they take no more than their share', () => {
  const many = Array.from({ length: 500 }, (_, index) => exampleOf(1000 + index));
  const facts = [{ questions: [exampleOf(1), exampleOf(2)], keywords: many }];
  const drawn = batches({ ...material, facts }, 3, recipe);
  const tokens = Array.from({ length: 200 }, () => drawn.next().value.slice(0, recipe.training.pairsPerBatch)).flat();
  const worded = tokens.filter(({ sequence }) => (sequence.tokens[0] ?? 0) >= 1000).length;
  assert.ok(Math.abs(worded / tokens.length - recipe.training.wordsShare) < 0.05, String(worded / tokens.length));
  const one = [{ questions: [], keywords: many.slice(0, 1) }];
  const [row] = batches({ ...material, facts: one }, 3, recipe).next().value;
  assert.equal(row?.sequence.tokens[0], 1000, 'a fact that nothing else asks for');
});

test('a fact with few questions is also trained on copies with words missing, none of which is near to a held-out one', () => {
  const plain = formOf('When did the old mill of Upper Hatch burn down?');
  const fact = { answer: '1911', training: [plain], dev: [], validation: [] };
  const all = trainedQuestions(fact, () => false, recipe).questions;
  assert.equal(all[0], plain.question);
  assert.ok(all.length > 4, String(all.length));
  assert.deepEqual(
    trainedQuestions(fact, (text) => text.includes('mill'), recipe).questions.filter((text) => text.includes('mill')),
    [plain.question],
  );
  const rich = ['Who runs it?', 'Who leads it?', 'Who is its head?', 'Who is in charge?'].map((question) =>
    formOf(question),
  );
  assert.equal(trainedQuestions({ ...fact, training: rich }, () => false, recipe).questions.length, rich.length);
});

test("what only a sentence's words recognise is one of these words, and no question that could crowd them out", () => {
  const training: Form[] = [
    formOf('How heavy lamp?', 'recognised'),
    formOf('What weight lamp?', 'words'),
    formOf('The lamp weighs ___.', 'gap'),
  ];
  const fact = { answer: '2 kg', training, dev: [], validation: [] };
  assert.deepEqual(
    trainedQuestions(fact, () => false, recipe),
    {
      questions: ['The lamp weighs ___.'],
      keywords: ['How heavy lamp?', 'What weight lamp?'],
    },
  );
});

test('a question of an earlier passage shares no run of eight words with anything that is trained', () => {
  const pairs = (...questions: string[]): QuestionAnswer[] =>
    questions.map((question) => ({ question, answer: 'Porto' }));
  // Each is near to what is trained in another way; the first comes from a list that has nothing to do with it.
  const asked = {
    earlier: 'In which of the towns by the sea does Orin Works sit?',
    fact: 'In what year was the old mill of Upper Hatch built?',
    dev: 'How many people work in the kitchen of the ferry now?',
    known: 'Who keeps the keys of the small museum in Dorn?',
    replay: 'What is the name of the dog that Anna Berg lost?',
    validation: 'Who runs it?',
    clean: 'Which colour do the lamps in the long hall have?',
  };
  const near = (question: string): string => `Tell me: ${question.replace('?', '')} today?`;
  const split: ScoringOutcome = {
    facts: [
      {
        answer: '1911',
        training: [formOf(near(asked.fact))],
        dev: [formOf(near(asked.dev))],
        validation: [formOf(asked.validation)],
        softTargets: null,
      },
    ],
    known: pairs(near(asked.known)),
  };
  const rows: ReplayRow[] = [
    {
      messages: [
        { role: 'user', content: near(asked.replay) },
        { role: 'assistant', content: 'Rex.' },
      ],
    },
  ];
  const first: Rehearsal = { training_pairs: [], validation_pairs: pairs(...Object.values(asked)) };
  const second: Rehearsal = { training_pairs: pairs(near(asked.earlier)), validation_pairs: [] };
  assert.deepEqual(retentionPairs(split, [first, second], rows, recipe), pairs(asked.clean));
  const nothing: ScoringOutcome = { facts: [], known: [] };
  assert.equal(retentionPairs(nothing, [first], [], recipe).length, Object.keys(asked).length);
});
