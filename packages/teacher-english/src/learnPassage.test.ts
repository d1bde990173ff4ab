import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EngineError, startEngineHost, type AdapterReference, type Engine } from '@engraft/engine';
import {
  learnPassage,
  loadReplay,
  learningPhases,
  type LearningInput,
  type LearningOptions,
  type LearningOutcome,
  type ReplayRow,
} from '@engraft/learning';
import {
  costNanousd,
  drawReplay,
  encodeMaterial,
  evaluatingSchema,
  loadPhase,
  mapConcurrently,
  noUsage,
  sameAnswer,
  scoringSchema,
} from '@engraft/learning/parts';
import { baseRecipe } from '@engraft/learning/testing/recipe.js';
import { formOf } from './forms.js';
import { dyingNowAndThen, notingTrainings, type OpenedTraining } from './testing/faultyEngines.js';
import { MemoryJournal } from './testing/memoryJournal.js';
import { shortInput, shortPassage, type InputChanges } from './testing/shortInput.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const secondPassage =
  'The Grey Heron is a research ship. The captain of the Grey Heron is Elena Markov. The Grey Heron was built in 1994.';

let engine: Engine;
let replay: readonly ReplayRow[];
let folder: string;
/** One run without trouble, and what it stored. */
let expected: LearningOutcome;
let whole: MemoryJournal;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 2 });
  replay = (await loadReplay(modelDir)).slice(0, 12);
  folder = await mkdtemp(join(tmpdir(), 'learning-'));
  whole = new MemoryJournal();
  expected = await learn(inputOf({ workFolder: join(folder, 'expected') }), whole);
});

after(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function inputOf(changes: InputChanges = {}): LearningInput {
  return shortInput({ replay, workFolder: join(folder, 'work'), ...changes });
}

/** Two runs differ in where they write, and in what the engine's cache still holds. */
function comparable(outcome: LearningOutcome): unknown {
  const usage = { ...outcome.usage, cached_input_tokens: 0 };
  return outcome.kind === 'accepted'
    ? { ...outcome, usage, adapter: { ...outcome.adapter, folder: '' } }
    : { ...outcome, usage };
}

function learn(
  input: LearningInput,
  journal = new MemoryJournal(),
  options: LearningOptions = {},
  on = engine,
): Promise<LearningOutcome> {
  return learnPassage(on, input, journal, options);
}

test('a passage is learned, and its text is not kept', () => {
  assert.equal(expected.kind, 'accepted');
  assert.ok(expected.validation.passed_count > expected.validation.base_passed_count);
  assert.deepEqual(expected.usage, whole.usage);
  assert.ok(expected.usage.cached_input_tokens > 0, 'the passage was not read anew for every question');
  assert.ok(costNanousd(expected.usage, inputOf().budget) <= 2_000_000_000);
  const kept = JSON.stringify(expected.rehearsal);
  assert.ok(!kept.includes('Complete:') && !kept.includes(shortPassage.slice(0, 40)));
});

test('a second passage is learned on top of the first, which is rehearsed and asked again', async () => {
  assert.equal(expected.kind, 'accepted');
  const { adapter: parent, rehearsal } = expected;
  const journal = new MemoryJournal();
  const opened: OpenedTraining[] = [];
  const forgotten: string[] = [];
  const outcome = await learn(
    inputOf({ content: secondPassage, parent, earlier: [rehearsal], workFolder: join(folder, 'second') }),
    journal,
    {},
    notingTrainings(engine, opened, forgotten),
  );
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
  assert.deepEqual(forgotten, [inputOf().isolationKey], 'what only teaching and scoring need takes no memory');
  const [training] = opened;
  assert.ok(training !== undefined && opened.length === 1);
  assert.ok('parent' in training && training.parent?.contentHash === parent.contentHash, 'training went on from it');
  const scoring = await loadPhase(journal, 'scoring', scoringSchema);
  assert.ok(scoring !== null);
  const drawn = drawReplay(replay, inputOf().seed, baseRecipe).replay;
  const { protectedDirections } = await encodeMaterial(engine, scoring.outcome, [rehearsal], drawn, baseRecipe);
  assert.ok(protectedDirections.length > 0);
  assert.deepEqual(
    training.protectedDirections,
    protectedDirections,
    'the directions that all chats share are protected',
  );
  const { retention_passed_count, retention_total_count, passed_count, base_passed_count } = outcome.validation;
  assert.equal(retention_total_count, rehearsal.validation_pairs.length);
  assert.ok(passed_count > base_passed_count);
  const evaluating = await loadPhase(journal, 'evaluating', evaluatingSchema);
  assert.ok(evaluating !== null && evaluating.outcome.retention.parent > 0, 'the parent was asked, not base');
  assert.ok(retention_passed_count > 0);
  const answered = async (adapter: AdapterReference | null): Promise<number> => {
    const right = await mapConcurrently(rehearsal.training_pairs, async ({ question, answer }) => {
      const prompt = baseRecipe.prompts.closedBook(question);
      const { text } = await engine.generate({ prompt, adapter, maxOutputTokens: 32, temperature: 0 });
      return sameAnswer(text, answer);
    });
    return right.filter((isRight) => isRight).length;
  };
  const before = await answered(parent);
  assert.ok((await answered(null)) < before / 2, 'base does not know the first passage');
  assert.ok((await answered(outcome.adapter)) >= 0.8 * before, 'what was learned twice is known still');
});

test('a candidate that there was too little money to compare is not accepted', async () => {
  const { budget } = inputOf();
  const evaluation = costNanousd(whole.stored.get('evaluating')!.usage, budget);
  const evaluatedWith = async (share: number): Promise<Exclude<LearningOutcome, { kind: 'budget_exhausted' }>> => {
    const journal = new MemoryJournal();
    for (const phase of learningPhases.slice(0, -1)) journal.stored.set(phase, whole.stored.get(phase)!);
    const capNanousd = costNanousd(journal.usage, budget) + share * evaluation;
    const maxComputeMicrousd = Math.ceil(capNanousd / 1000);
    const outcome = await learn(
      inputOf({ max_compute_microusd: maxComputeMicrousd, workFolder: join(folder, 'expected') }),
      journal,
    );
    assert.ok(outcome.kind !== 'budget_exhausted');
    return outcome;
  };
  const poor = await evaluatedWith(0.3);
  assert.deepEqual([poor.kind, poor.gate.reasons], ['rejected', ['not_measured']]);
  assert.ok(poor.gate.canaries.unasked > poor.gate.canaries.total);
  const rich = await evaluatedWith(2);
  assert.deepEqual([rich.kind, rich.gate.reasons, rich.gate.canaries.unasked], ['accepted', [], 0]);
});

test('crashes after every phase change nothing, and nothing is paid twice', async () => {
  const journal = new MemoryJournal();
  let jobFolder = join(folder, 'crashing');
  await mkdir(jobFolder);
  for (const phase of learningPhases) {
    journal.dieAfter = phase;
    await assert.rejects(learn(inputOf({ workFolder: join(jobFolder, phase) }), journal), /crash/);
    // Another machine has the data folder elsewhere.
    const elsewhere = join(folder, `after-${phase}`);
    await rename(jobFolder, elsewhere);
    jobFolder = elsewhere;
  }
  journal.dieAfter = null;
  const resumed = await learn(inputOf({ workFolder: join(jobFolder, 'last') }), journal);
  assert.deepEqual(comparable(resumed), comparable(expected));
  assert.deepEqual(resumed.usage, journal.usage);
});

test('cancelling ends the job with an error, in any phase', async () => {
  for (const [index, phase] of learningPhases.entries()) {
    const journal = new MemoryJournal();
    for (const earlier of learningPhases.slice(0, index)) journal.stored.set(earlier, whole.stored.get(earlier)!);
    const controller = new AbortController();
    const onProgress: LearningOptions['onProgress'] = () => controller.abort();
    // An adapter is evaluated where it was trained.
    const workFolder = join(folder, phase === 'evaluating' ? 'expected' : 'work');
    await assert.rejects(
      learn(inputOf({ workFolder }), journal, { signal: controller.signal, onProgress }),
      (error) => error instanceof EngineError && error.code === 'cancelled',
      phase,
    );
  }
});

test('who was cancelled leaves the work folder as it is', async () => {
  const workFolder = join(folder, 'cancelled');
  await mkdir(join(workFolder, 'training', 'step-1'), { recursive: true });
  const journal = new MemoryJournal();
  for (const earlier of ['teaching', 'scoring'] as const) journal.stored.set(earlier, whole.stored.get(earlier)!);
  const controller = new AbortController();
  journal.entered = () => {
    controller.abort();
    return Promise.resolve();
  };
  await assert.rejects(learn(inputOf({ workFolder }), journal, { signal: controller.signal }), { code: 'cancelled' });
  assert.deepEqual(await readdir(join(workFolder, 'training')), ['step-1']);
});

test('the cap is never passed, however small', async () => {
  for (const maxComputeMicrousd of [0, 3_000, 60_000, 120_000]) {
    const input = inputOf({ max_compute_microusd: maxComputeMicrousd });
    const outcome = await learn(input);
    assert.ok(costNanousd(outcome.usage, input.budget) <= maxComputeMicrousd * 1000, outcome.kind);
    if (maxComputeMicrousd <= 3_000) assert.equal(outcome.kind, 'budget_exhausted');
  }
});

test('what leaves too few questions to test with is rejected before it is trained', async () => {
  const journal = new MemoryJournal();
  const fact = {
    answer: 'Porto',
    training: [formOf('Where Orin Works sits?', 'recognised')],
    dev: [],
    validation: [],
    softTargets: null,
  };
  journal.stored.set('teaching', whole.stored.get('teaching')!);
  const text = JSON.stringify({ outcome: { facts: [fact], known: [] }, usage: noUsage });
  journal.stored.set('scoring', { text, usage: noUsage });
  const outcome = await learn(inputOf(), journal);
  assert.ok(outcome.kind === 'rejected');
  assert.deepEqual(outcome.gate.reasons, ['too_few_validated']);
  assert.deepEqual(outcome.rejection.reasons, outcome.gate.reasons);
  assert.match(
    outcome.rejection.message,
    /^The model confirmed only 0 questions .+ Nothing was confirmed about sentences? \d/,
  );
  assert.equal(outcome.usage.training_tokens, 0);
  assert.ok(!journal.stored.has('training'));
});

test('a dying engine process costs time, not money', async () => {
  const outcome = await learn(inputOf(), new MemoryJournal(), {}, dyingNowAndThen(engine));
  assert.deepEqual(comparable(outcome), comparable(expected));
});
