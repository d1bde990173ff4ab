import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { learningResult } from '@engraft/contract';
import type { Engine } from '@engraft/engine';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { readConfig } from '../config/config.js';
import { claimJob } from '../jobs/claimJob.js';
import { storeTrainingProgress } from '../jobs/trainingProgress.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { type LoadedEngine, loadEngine } from '../startup/model.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { startWorker, type Worker } from './worker.js';

const passage = 'The Halden Observatory was founded in 1923 by Marta Ilves. Its telescope is called the Grey Heron.';

/** With the shipped model on the real engine. */
describe('a learning job whose training is interrupted', () => {
  let database: TestDatabase;
  let key: TestKey;
  let loaded: LoadedEngine;
  let dataFolder: string;
  let workers: Worker[] = [];
  let admitted = 0;
  /** Steps that the engine made, in all claims. */
  let steps = 0;
  let logged: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void logged.push(line) });

  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-resume-'));
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    loaded = await loadEngine(readConfig({ data: dataFolder }, {}), pino({ level: 'silent' }));
  });
  after(async () => {
    await loaded.engine.close();
    await database.close();
    await rm(dataFolder, { recursive: true });
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    workers = [];
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
  });

  async function start(): Promise<Worker> {
    const store = await openFolderStore(dataFolder);
    const engine = countingSteps(loaded.engine);
    const worker = startWorker({ ...loaded, engine, logger, db: database.db, store, dataFolder, pollMs: 20 });
    workers.push(worker);
    return worker;
  }

  /** The real engine, whose steps are counted. */
  function countingSteps(engine: Engine): Engine {
    return {
      describe: () => engine.describe(),
      countTokens: (prompt) => engine.countTokens(prompt),
      encode: (prompt, completion) => engine.encode(prompt, completion),
      generate: (request, options) => engine.generate(request, options),
      score: (request, options) => engine.score(request, options),
      close: () => engine.close(),
      forgetPrefixes: (isolationKey) => engine.forgetPrefixes(isolationKey),
      openTraining: async (opening) => {
        const session = await engine.openTraining(opening);
        return {
          ...session,
          step: async (batch, rate, options) => {
            const result = await session.step(batch, rate, options);
            steps += 1;
            return result;
          },
        };
      },
    };
  }

  async function admit(): Promise<string> {
    admitted += 1;
    steps = 0;
    logged = [];
    const outcome = await admitJob(
      { db: database.db, countTokens: countUnits, contextLength: 1_000, execution: 'on', open_jobs: plentyOfJobs },
      {
        key,
        tenant_id: null,
        subject_id: 'anna',
        adapter_version: undefined,
        endpoint: '/v1/internalizations',
        idempotency_key: `resume-${admitted}`,
        request: { kind: 'internalization', content: passage, max_cost_microusd: 3_000_000, activate: true },
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  }

  const read = (jobId: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();

  async function until(wanted: () => Promise<boolean> | boolean): Promise<void> {
    const deadline = Date.now() + 300_000;
    while (!(await wanted())) {
      if (Date.now() > deadline) throw new Error(`it did not get there: ${logged.slice(-5).join('')}`);
      await sleep(10);
    }
  }
  const ended = (jobId: string) => until(async () => (await read(jobId)).settled);

  it('is handed back with how far it has come when the worker is stopped, and no step is made twice', async () => {
    const id = await admit();
    for (const further of [5, 1, 6]) {
      const stopAt = steps + further;
      const worker = await start();
      await until(() => steps >= stopAt);
      await worker.stop(0);
      const { status, attempts, training_steps, training_progress } = await read(id);
      assert.deepEqual([status, attempts, training_steps], ['queued', 0, steps]);
      assert.ok(training_progress !== null);
    }
    await start();
    await ended(id);
    const job = await read(id);
    assert.ok(['ready', 'rejected'].includes(job.status), job.error_code ?? job.status);
    const { training } = learningResult.parse(job.result);
    assert.deepEqual([steps, job.training_tokens], [training.steps, training.tokens]);
    assert.equal(logged.filter((line) => line.includes('goes on from its last snapshot')).length, 3);
    await until(async () => (await readdir(path.join(dataFolder, 'work'))).length === 0);
  });

  /** Claims by workers that die, each of which has come so far. */
  async function claimsThatDie(jobId: string, trained: readonly number[]): Promise<void> {
    for (const stepsDone of trained) {
      const job = await claimJob(database.db, { worker_id: 'dead', kind: 'internalization', leaseMs: 60_000 });
      assert.ok(job?.job_id === jobId);
      await storeTrainingProgress(database.db, job, { progress: 'of a machine that is gone', steps: stepsDone });
      const expired = sql<Date>`now()`;
      await database.db.updateTable('jobs').set({ lease_expires_at: expired }).where('id', '=', jobId).execute();
    }
  }

  it('is learned however often its workers died, where each came further', async () => {
    const id = await admit();
    await claimsThatDie(
      id,
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    await start();
    await ended(id);
    const { status, error_code, result } = await read(id);
    assert.ok(['ready', 'rejected'].includes(status), error_code ?? status);
    assert.equal(steps, learningResult.parse(result).training.steps);
  });

  it('is given up when its workers died ten times without coming further', async () => {
    const id = await admit();
    await claimsThatDie(id, [7, ...Array.from({ length: 10 }, () => 7)]);
    await start();
    await ended(id);
    const { status, error_code, charged_microusd } = await read(id);
    assert.deepEqual([status, error_code, charged_microusd, steps], ['failed', 'engine_failed', 0, 0]);
  });
});
