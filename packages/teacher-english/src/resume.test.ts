import assert from 'node:assert/strict';
import { mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EngineError, startEngineHost, type Engine, type EngineHost } from '@engraft/engine';
import fc from 'fast-check';
import {
  learnPassage,
  type LearningJournal,
  type LearningNotice,
  type LearningOptions,
  type LearningPhase,
  loadReplay,
} from '@engraft/learning';
import { loadPhase, trainingSchema, type PhaseResult, type TrainingOutcome } from '@engraft/learning/parts';
import { baseRecipe } from '@engraft/learning/testing/recipe.js';
import { englishTeacher } from './englishTeacher.js';
import { withSession } from './testing/faultyEngines.js';

const modelDir = fileURLToPath(new URL('../../../models/base', import.meta.url));
const input = {
  teacher: englishTeacher(baseRecipe),
  recipe: baseRecipe,
  content: 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.',
  parent: null,
  earlier: [],
  budget: {
    max_compute_microusd: 2_000_000,
    input_nanousd_per_token: 12_000,
    output_nanousd_per_token: 30_000,
    cached_input_nanousd_per_token: 2_500,
    training_nanousd_per_token: 36_000,
  },
  seed: 7,
};

let engine: EngineHost;
let home: string;
/** Learned without an interruption. */
let whole: Job;
let expected: PhaseResult<TrainingOutcome>;

before(async () => {
  engine = await startEngineHost({ modelDir, threads: 2 });
  home = await mkdtemp(path.join(tmpdir(), 'resume-'));
  whole = new Job('whole');
  await whole.run();
  expected = await whole.trained();
  assert.deepEqual(whole.steps, upTo(expected.outcome.report.steps));
});

after(async () => {
  await engine.close();
  await rm(home, { recursive: true });
});

/** Ends a run whose training has ended: the rest of the job is not of interest. */
class Trained extends Error {}
/** A job, with a folder for each of its runs. Keeps everything as JSON, as a database would. */
class Job {
  folder: string;
  stored = new Map<LearningPhase, string>();
  progress: string | null = null;
  /** The run dies after so many records of progress. */
  killedAtRecord: number | null = null;
  /** The steps that were made in all runs, each by its number. */
  steps: number[] = [];
  notices: LearningNotice['kind'][] = [];
  /** How many snapshots there were whenever one was recorded. */
  readonly snapshotCounts: number[] = [];
  #runs = 0;

  constructor(name: string) {
    this.folder = path.join(home, name);
  }

  /** One whose training is next. */
  static beforeTraining(name: string): Job {
    const job = new Job(name);
    job.stored = new Map([...whole.stored].filter(([phase]) => phase !== 'training'));
    return job;
  }

  /** Runs to the end of the training. Rejects when it is interrupted. Without a clock no snapshot is due. */
  async run(options: LearningOptions = {}, on: Engine = engine): Promise<void> {
    this.#runs += 1;
    const workFolder = path.join(this.folder, String(this.#runs));
    const replay = (await loadReplay(modelDir)).slice(0, 12);
    const running = learnPassage(on, { ...input, replay, workFolder }, this.journal, {
      now: () => 0,
      ...options,
      onNotice: ({ kind }) => void this.notices.push(kind),
      onProgress: (progress) => {
        if (progress.phase !== 'training') return;
        this.steps.push(progress.done);
        options.onProgress?.(progress);
      },
    });
    await running.catch((error: unknown) => {
      if (!(error instanceof Trained)) throw error;
    });
  }

  readonly journal: LearningJournal & Required<Pick<LearningJournal, 'progress'>> = {
    load: (phase) => Promise.resolve(parsed(this.stored.get(phase) ?? null)),
    store: (phase, outcome) => {
      this.stored.set(phase, JSON.stringify(outcome));
      return Promise.resolve();
    },
    entered: (phase) => (phase === 'evaluating' ? Promise.reject(new Trained()) : Promise.resolve()),
    progress: {
      load: () => Promise.resolve(parsed(this.progress)),
      store: async (progress, steps) => {
        assert.equal(steps, this.steps.at(-1));
        const entries = await readdir(this.folder, { recursive: true });
        this.snapshotCounts.push(entries.filter((name) => /snapshot-\d+$/.test(name)).length);
        this.progress = JSON.stringify(progress);
        if (this.snapshotCounts.length === this.killedAtRecord) throw new Error('killed');
      },
    },
  };

  async trained(): Promise<PhaseResult<TrainingOutcome>> {
    const training = await loadPhase(this.journal, 'training', trainingSchema);
    assert.ok(training !== null);
    return training;
  }

  /** The same adapter, report and usage as without an interruption, and nothing left but the adapter. */
  async assertSame(): Promise<void> {
    const { outcome, usage } = await this.trained();
    assert.equal(outcome.adapter.contentHash, expected.outcome.adapter.contentHash);
    assert.deepEqual([outcome.report, usage], [expected.outcome.report, expected.usage]);
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const holding = new Set(entries.filter((entry) => entry.isFile()).map(({ parentPath }) => parentPath));
    assert.deepEqual([...holding], [path.join(this.folder, outcome.adapter.folder)]);
    assert.ok(this.snapshotCounts.every((count) => count <= 2));
  }
}

test('a training that is stopped, however often, makes every step once, with the same outcome and usage', async () => {
  const last = expected.outcome.report.steps;
  const stops = fc.uniqueArray(fc.integer({ min: 1, max: last - 1 }), { minLength: 1, maxLength: 3 });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(stops, async (unordered) => {
      round += 1;
      const job = Job.beforeTraining(`stopped-${round}`);
      for (const [index, stop] of unordered.sort((a, b) => a - b).entries()) {
        await assert.rejects(interrupted(job, 'stopping', stop), { code: 'cancelled' });
        // Another machine has the data folder elsewhere.
        const elsewhere = path.join(home, `stopped-${round}-moved-${index}`);
        await rename(job.folder, elsewhere);
        job.folder = elsewhere;
      }
      await job.run();
      assert.deepEqual(job.steps, upTo(last));
      assert.deepEqual(new Set(job.notices), new Set(['resumed']));
      await job.assertSame();
    }),
    { numRuns: 2 },
  );
});

test('a training that is stopped in the middle of a step, or of a dev evaluation, goes on with that', async () => {
  const job = Job.beforeTraining('mid-step');
  const stopDuring = (method: 'step' | 'evaluate', call: number): Promise<void> => {
    const stopping = new AbortController();
    let calls = 0;
    const noting = (called: string): void => {
      if (called === method && (calls += 1) === call) setImmediate(() => stopping.abort());
    };
    const on = withSession(engine, (session) => ({
      ...session,
      step: (...args) => (noting('step'), session.step(...args)),
      evaluate: (...args) => (noting('evaluate'), session.evaluate(...args)),
    }));
    return job.run({ stopping: stopping.signal }, on);
  };
  await assert.rejects(stopDuring('step', 8), { code: 'cancelled' });
  await assert.rejects(stopDuring('evaluate', 2), { code: 'cancelled' });
  await job.run();
  assert.deepEqual(job.steps, upTo(expected.outcome.report.steps));
  await job.assertSame();
});

test('a training whose process is killed goes on from its last snapshot, in the same run', async () => {
  const job = Job.beforeTraining('killed');
  const clock = steppingClock(4_000);
  const kills = new Set([7, 20]);
  const onProgress: LearningOptions['onProgress'] = ({ done }) => {
    clock.tick();
    const [pid] = engine.trainingPids;
    if (pid !== undefined && kills.delete(done)) process.kill(pid, 'SIGKILL');
  };
  await job.run({ now: clock.now, onProgress });
  assert.deepEqual(job.notices, ['resumed', 'resumed']);
  // There is a snapshot after every second step, of which each kill loses two at most.
  assert.ok(job.steps.length <= expected.outcome.report.steps + 4, job.steps.join());
  await job.assertSame();
});

test('what a run recorded last before it was killed is where the next one goes on', async () => {
  const job = Job.beforeTraining('crashed');
  const clock = steppingClock(6_000);
  job.killedAtRecord = 9;
  await assert.rejects(job.run({ now: clock.now, onProgress: clock.tick }), /killed/);
  await job.run();
  assert.deepEqual(job.steps, upTo(expected.outcome.report.steps));
  assert.deepEqual(job.notices, ['resumed']);
  await job.assertSame();
});

test('progress that cannot be used lets the training begin anew, and says so', async () => {
  const job = Job.beforeTraining('unusable');
  await assert.rejects(interrupted(job, 'stopping', 12), { code: 'cancelled' });
  const kept = parsed(job.progress) as { state: object };
  const files = await readdir(job.folder, { recursive: true });
  const fileOf = (name: RegExp): string => path.join(job.folder, files.find((file) => name.test(file)) ?? '');
  const mishaps: readonly (readonly [string, object, (() => Promise<void>)?])[] = [
    ['another version', { ...kept, format: 2 }],
    ['no progress at all', []],
    ['another plan', { ...kept, plan: '0' }],
    ['a best adapter that is damaged', kept, () => truncate(fileOf(/step-\d+.adapter_model/), 1_000)],
    [
      'a snapshot that is damaged',
      { ...kept, state: { ...kept.state, best: null } },
      () => truncate(fileOf(/optimizer/), 1_000),
    ],
    ['a folder that is gone', kept, () => rm(job.folder, { recursive: true })],
  ];
  for (const [name, progress, mishap] of mishaps) {
    await mishap?.();
    job.progress = JSON.stringify(progress);
    job.steps = [];
    job.notices = [];
    await assert.rejects(interrupted(job, 'signal', 2), { code: 'cancelled' });
    assert.deepEqual([job.steps, job.notices], [[1, 2], ['progress_unusable']], name);
    assert.equal(job.progress, JSON.stringify(progress), 'who was cancelled for good keeps nothing');
  }
  await job.run();
  await job.assertSame();
});

test('who has lost the job keeps nothing, even when it is to stop as well', async () => {
  const job = Job.beforeTraining('lost');
  const both = new AbortController();
  const onProgress: LearningOptions['onProgress'] = ({ done }) => {
    if (done === 3) both.abort();
  };
  await assert.rejects(job.run({ signal: both.signal, stopping: both.signal, onProgress }), { code: 'cancelled' });
  assert.deepEqual([job.progress, job.notices, await readdir(path.join(job.folder, '1', 'training'))], [null, [], []]);
});

test('a snapshot for which there is no room is no reason to end, and is complained of once', async () => {
  const job = Job.beforeTraining('full');
  const clock = steppingClock(6_000);
  const full = withSession(engine, (session) => ({
    ...session,
    snapshot: () => Promise.reject(new EngineError('internal', 'The folder could not be written.')),
  }));
  await job.run({ now: clock.now, onProgress: clock.tick }, full);
  assert.deepEqual([job.notices, job.snapshotCounts], [['snapshot_failed'], []]);
  await job.assertSame();
});

test('a snapshot that is never written keeps nobody waiting who stops a training', async () => {
  const job = Job.beforeTraining('hung');
  const hung = withSession(engine, (session) => ({ ...session, snapshot: () => new Promise(() => undefined) }));
  await assert.rejects(interrupted(job, 'stopping', 2, hung), { code: 'cancelled' });
  assert.deepEqual([job.notices, job.progress], [['snapshot_failed'], null]);
});

/** A run that is aborted after a step, for good (`signal`) or to be resumed (`stopping`). */
function interrupted(job: Job, by: 'signal' | 'stopping', step: number, on: Engine = engine): Promise<void> {
  const controller = new AbortController();
  const onProgress: LearningOptions['onProgress'] = ({ done }) => {
    if (done === step) controller.abort();
  };
  return job.run({ [by]: controller.signal, onProgress }, on);
}

/** A clock that stands still but for its ticks, one a step. */
function steppingClock(stepMs: number): { now: () => number; tick: () => void } {
  let nowMs = 0;
  return { now: () => nowMs, tick: () => void (nowMs += stepMs) };
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

function parsed(text: string | null): unknown {
  return text === null ? null : (JSON.parse(text) as unknown);
}
