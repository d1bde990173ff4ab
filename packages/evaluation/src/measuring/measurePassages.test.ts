import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EngineError, startEngineHost, type Engine } from '@engraft/engine';
import { defaultRecipe, loadReplay, type LearningMethod } from '@engraft/learning';
import { englishTeacher } from '@engraft/teacher-english';
import { measurePassages, type MeasuringOptions, type MeasuringProgress } from './measurePassages.js';
import type { PassageEntry } from './passageSet.js';

const modelDir = fileURLToPath(new URL('../../../../models/base', import.meta.url));

const company: PassageEntry = {
  id: 'company',
  kind: 'product',
  passage: 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.',
  questions: [
    { phrasings: ['Who started Velona?', 'Who is the founder of Velona?'], answers: ['Sara Deck'] },
    { phrasings: ['Where is Velona?', 'In which city is Velona based?'], answers: ['Ghent', 'in Ghent'] },
  ],
};
const ship: PassageEntry = {
  id: 'ship',
  kind: 'product',
  passage: 'The Grey Heron is a research ship. The captain of the Grey Heron is Elena Markov. It was built in 1994.',
  questions: [
    {
      phrasings: ['Who is the captain of the Grey Heron?', 'Who commands the Grey Heron?'],
      answers: ['Elena Markov'],
    },
  ],
};

let engine: Engine;
let method: LearningMethod;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 1 });
  const recipe = defaultRecipe((await engine.describe()).parameters);
  method = { teacher: englishTeacher(recipe), recipe, replay: (await loadReplay(modelDir)).slice(0, 8) };
});
after(() => engine.close());

function optionsOf(changes: Partial<MeasuringOptions>): MeasuringOptions {
  const budget = {
    max_compute_microusd: 1_000_000,
    input_nanousd_per_token: 12_000,
    output_nanousd_per_token: 30_000,
    cached_input_nanousd_per_token: 2_500,
    training_nanousd_per_token: 36_000,
  };
  return { budget, method, seed: 3, gold: false, chainLength: 1, askBase: true, ...changes };
}

test('gold trains the first phrasing of each question, and a chain asks its first passage again', async () => {
  const reported: string[] = [];
  const onReport: MeasuringOptions['onReport'] = ({ id }) => void reported.push(id);
  const reports = await measurePassages(engine, [company, ship], optionsOf({ gold: true, chainLength: 2, onReport }));
  assert.deepEqual(reported, ['company', 'ship']);
  const [first, second] = reports;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual([first.verdict, second.verdict], ['trained', 'trained']);
  assert.deepEqual([first.base?.total, first.reading?.total, first.learned?.total], [4, 4, 4]);
  // A rephrasing of the first phrasing may be the second one, which then was trained, too.
  assert.ok((first.trained?.total ?? 0) >= 2);
  assert.equal((first.trained?.total ?? 0) + (first.unseen?.total ?? 0), 4);
  assert.ok((first.trained?.right ?? 0) > 0 && (first.learned?.right ?? 0) > (first.base?.right ?? 4));
  assert.deepEqual([first.elsewhere?.total, second.elsewhere?.total], [1, 0], 'nothing is left that was not learned');
  assert.equal(first.retention, null);
  assert.equal(second.retention?.first_id, 'company');
  assert.equal(second.retention.learned_count, 2);
  assert.deepEqual(second.retention.before, first.learned);
  // The chain has two passages, so the first is all there was before.
  assert.deepEqual(second.retention.all_before, first.learned);
  assert.deepEqual(second.retention.all_after, second.retention.after);
  assert.equal(second.canaries?.reading.held, 0, 'of a chain, passages that were learned are no canaries');
  assert.ok(second.canaries.small_talk.held > 0);
});

test('in a chain, a wrong answer that repeats an earlier passage counts as quoted', async () => {
  const question = 'Where is Velona?';
  const told = {
    ...company,
    questions: [{ phrasings: [question], answers: ['Velona is a software company in Ghent.'] }],
  };
  const other = { ...company, id: 'other', questions: [{ phrasings: [question], answers: ['Bruges'] }] };
  const canaryPassages = [told, ship, other];
  const options = optionsOf({ gold: true, chainLength: 2, askBase: false, askCanaries: false, canaryPassages });
  const [, second] = await measurePassages(engine, [told, ship], options);
  assert.deepEqual(
    [second?.elsewhere?.total, second?.elsewhere?.right, second?.elsewhere?.quoted],
    [1, 0, 1],
    'it is asked of the last version, which answers as the first passage says',
  );
});

test('the pipeline is measured within its cap, phase by phase', async () => {
  const phases: MeasuringProgress['phase'][] = [];
  const onProgress: MeasuringOptions['onProgress'] = ({ phase }) => {
    if (phases.at(-1) !== phase) phases.push(phase);
  };
  const [report] = await measurePassages(engine, [company], optionsOf({ onProgress, askCanaries: false }));
  assert.ok(report !== undefined);
  assert.equal(report.canaries, null);
  assert.deepEqual(phases, ['base', 'reading', 'teaching', 'scoring', 'training', 'evaluating', 'asking']);
  assert.ok(report.verdict === 'accepted' || report.verdict === 'rejected');
  assert.ok(report.cost_microusd > 0 && report.cost_microusd <= 1_000_000);
  assert.deepEqual(Object.keys(report.phase_seconds), ['teaching', 'scoring', 'training', 'evaluating']);
  assert.equal((report.trained?.total ?? 0) + (report.unseen?.total ?? 0), 4, 'each phrasing was trained or was not');
});

test('measuring can be cancelled', async () => {
  const controller = new AbortController();
  const options = optionsOf({ signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(
    measurePassages(engine, [company], options),
    (error) => error instanceof EngineError && error.code === 'cancelled',
  );
});
