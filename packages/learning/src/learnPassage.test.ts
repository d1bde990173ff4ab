import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAdapterIntact, startEngineHost, type Engine } from '@engraft/engine';
import type { Fact } from './facts.js';
import { learnPassage } from './learnPassage.js';
import { noUsage } from './budget/meter.js';
import { answeringEither } from './recipe/defaults.js';
import { plainPrompts } from './recipe/prompts.js';
import { modelTeacher } from './teachers/model/modelTeacher.js';
import type { TaughtPassage, Teacher } from './teaching/teacher.js';
import { formOf } from './testing/forms.js';
import { baseRecipe } from './testing/recipe.js';
import { loadReplay } from './training/replay.js';
import type { LearningInput, LearningJournal, LearningOutcome, LearningPhase, LearningUsage } from './types.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const content = 'Die Mühle von Varn wurde 1874 von Ida Kell gebaut. Sie gehört der Stadt Dorn.';
const budget = {
  max_compute_microusd: 3_000_000,
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
};

/**
 * The shipped model hardly reads German, so that the passage adds little to its answers, and it hardly tells one noun
 * from another that does not exist.
 */
const recipe = {
  ...baseRecipe,
  teaching: { ...baseRecipe.teaching, minGainNats: -Infinity },
  replay: { ...baseRecipe.replay, unknownRowsPerBatch: 0 },
};

let engine: Engine;
let folder: string;
before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  folder = await mkdtemp(join(tmpdir(), 'learning-'));
});
after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

/**
 * Knows the passage by heart, so that the pipeline is tested without a language; `facts` are those that it confirms.
 */
class KnowingTeacher implements Teacher {
  readonly name = 'knowing';
  readonly asked: TaughtPassage[] = [];

  constructor(
    readonly facts: readonly Fact[],
    readonly askedWell = true,
  ) {}

  measure = () => Promise.resolve({ factCount: this.facts.length, extraReads: 0 });

  teach: Teacher['teach'] = (_calls, passage) => {
    this.asked.push(passage);
    const understood = this.facts.length > 0;
    return Promise.resolve({ facts: [...this.facts], understood, asked_well: this.askedWell });
  };

  confirm: Teacher['confirm'] = (_calls, _passage, facts) => Promise.resolve([...facts]);

  reading: Teacher['reading'] = ({ text }, _fact, question) => ({
    prompt: plainPrompts.reading(text, question),
    adapter: null,
  });
}

function factOf(answer: string, ...questions: readonly string[]): Fact {
  const forms = [
    ...questions.map((question) => formOf(question)),
    { ...formOf(`Steht da: ${questions[0] ?? ''}`), testRank: 9, quoted: true },
    formOf(`Ergänze: ___ ${questions[0] ?? ''}`, 'gap'),
  ];
  return { chunk: 0, sentenceStart: 0, answer, salience: 1, forms };
}

const facts = [
  factOf('1874', 'Wann wurde die Mühle gebaut?', 'Wann wurde die Mühle von Varn gebaut?', 'Wann gebaut?'),
  factOf('Ida Kell', 'Wer baute die Mühle?', 'Wer baute die Mühle von Varn?', 'Wer baute?'),
  factOf('Dorn', 'Wem gehört die Mühle?', 'Wem gehört die Mühle von Varn?', 'Wem gehört?'),
];

const forgetful: LearningJournal = {
  load: () => Promise.resolve(null),
  store: () => Promise.resolve(),
  entered: () => Promise.resolve(),
};

async function learn(
  teacher: Teacher,
  name: string,
  journal = forgetful,
  of = recipe,
  text = content,
): Promise<LearningOutcome> {
  const input: LearningInput = {
    content: text,
    parent: null,
    earlier: [],
    teacher,
    recipe: of,
    replay: (await loadReplay(modelDir)).slice(0, 12),
    budget,
    seed: 6,
    workFolder: join(folder, name),
  };
  return learnPassage(engine, input, journal);
}

test('what a teacher confirms is learned, in whatever language, and no sentence of the passage is kept', async () => {
  const teacher = new KnowingTeacher(facts);
  const outcome = await learn(teacher, 'german');
  assert.deepEqual(
    teacher.asked.map(({ text }) => text),
    [content],
  );
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
  const { training_pairs, validation_pairs } = outcome.rehearsal;
  const kept = [...training_pairs, ...validation_pairs].map(({ question }) => question);
  const asked = facts.flatMap(({ forms }) => forms.slice(0, 3).map(({ question }) => question));
  assert.deepEqual(kept.toSorted(), asked.toSorted());
});

test('where answers are either, they are sentences if the passage was not asked about well', async () => {
  // Three held-out questions, of which some are cut short, say little about German.
  const either = answeringEither({
    ...recipe,
    split: { ...recipe.split, minValidationPairs: 1 },
    evaluating: { ...recipe.evaluating, minPassRate: 0.3 },
  });
  const answersOf = async (askedWell: boolean): Promise<string> => {
    const teacher = new KnowingTeacher(facts, askedWell);
    const outcome = await learn(teacher, `either-${askedWell}`, forgetful, either);
    assert.ok(outcome.kind === 'accepted', outcome.kind);
    assert.equal(outcome.rehearsal.answers_with, askedWell ? 'values' : 'sentences');
    const texts = outcome.trace.questions.map(({ candidate }) => candidate.text);
    assert.ok(texts.length > 0 && texts.every((text) => (text === null) === !askedWell));
    assert.doesNotMatch(JSON.stringify([outcome.rehearsal, outcome.trace]), /Varn wurde/u, 'no sentence is kept');
    const prompt = recipe.prompts.closedBook('Wer baute die Mühle?');
    const request = { prompt, adapter: outcome.adapter, maxOutputTokens: 64, temperature: 0 };
    return (await engine.generate(request)).text;
  };
  assert.equal(await answersOf(true), 'Ida Kell');
  assert.equal(await answersOf(false), 'Die Mühle von Varn wurde 1874 von Ida Kell gebaut.');
});

test('a passage that says nothing to the teacher is rejected, and so is one that two facts contradict', async () => {
  const reasonsOf = async (teacher: Teacher, name: string): Promise<readonly string[]> => {
    const outcome = await learn(teacher, name);
    assert.ok(outcome.kind === 'rejected', outcome.kind);
    return outcome.gate.reasons;
  };
  const nothing = new KnowingTeacher([]);
  assert.equal((await nothing.measure()).factCount, 0, 'a lack of facts is no lack of money');
  assert.deepEqual(await reasonsOf(nothing, 'nothing'), ['not_understood']);
  const question = 'Wem gehört die Mühle?';
  const either = [factOf('Dorn'), factOf('Varn')].map((fact) => ({ ...fact, forms: [formOf(question)] }));
  assert.deepEqual(await reasonsOf(new KnowingTeacher(either), 'either'), ['too_few_validated']);
});

test('a passage of white space is rejected, and not for want of money', async () => {
  const outcome = await learn(modelTeacher(recipe, null), 'white', forgetful, recipe, ' \n\t'.repeat(20));
  assert.ok(outcome.kind === 'rejected', outcome.kind);
  assert.match(outcome.rejection.message, /^The model confirmed only 0 questions to test with;/);
  assert.doesNotMatch(outcome.rejection.message, /Nothing was confirmed/);
});

test('a finished training whose files are gone is repeated, which counts in no usage', async () => {
  const stored = new Map<LearningPhase, unknown>();
  const counted: [LearningPhase, LearningUsage][] = [];
  const journal: LearningJournal = {
    load: (phase) => Promise.resolve(structuredClone(stored.get(phase) ?? null)),
    store: (phase, outcome, usage) => {
      stored.set(phase, outcome);
      counted.push([phase, usage]);
      return Promise.resolve();
    },
    entered: () => Promise.resolve(),
  };
  const first = await learn(new KnowingTeacher(facts), 'lost', journal);
  assert.ok(first.kind === 'accepted');
  await rm(first.adapter.folder, { recursive: true });
  // With the evaluation stored, and as after a crash between training and evaluation.
  for (const without of [[], ['evaluating' as const]]) {
    for (const phase of without) stored.delete(phase);
    counted.length = 0;
    const again = await learn(new KnowingTeacher(facts), 'lost', journal);
    assert.ok(again.kind === 'accepted');
    assert.ok(await isAdapterIntact(again.adapter));
    assert.deepEqual([again.adapter.contentHash, again.usage], [first.adapter.contentHash, first.usage]);
    assert.deepEqual(counted[0], ['training', noUsage]);
    await rm(again.adapter.folder, { recursive: true });
  }
});
