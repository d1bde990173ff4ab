import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EngineError } from '@engraft/engine';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { claimJob } from '../jobs/claimJob.js';
import { scriptedEngine, type ScriptedReply } from '../testing/scriptedEngine.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { testQuestion } from '../testing/testWorker.js';
import { noTracing } from '../tracing/tracing.js';
import { JobObservation } from './jobObservation.js';
import { runJob } from './runJob.js';
import { createWorkerMetrics } from './workerMetrics.js';

const leaseMs = 60_000;

describe('what is measured of a run', () => {
  let database: TestDatabase;
  let key: TestKey;
  let dataFolder: string;
  let admitted = 0;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-observation-'));
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  async function admit(): Promise<string> {
    admitted += 1;
    const outcome = await admitJob(
      { db: database.db, countTokens: countUnits, contextLength: 1_000, execution: 'on', open_jobs: plentyOfJobs },
      {
        key,
        tenant_id: null,
        subject_id: null,
        adapter_version: undefined,
        endpoint: '/v1/test',
        idempotency_key: `observation-${admitted}`,
        request: testQuestion,
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  }
  const claim = () => claimJob(database.db, { worker_id: 'w', kind: 'inference', leaseMs });

  /** Runs the next job; gives the value of a series afterwards. */
  async function runNext(reply: () => ScriptedReply): Promise<(series: string) => number> {
    const job = await claim();
    assert.ok(job !== null);
    const registry = new Registry();
    const context = {
      db: database.db,
      engine: scriptedEngine(reply),
      store: await openFolderStore(dataFolder),
      dataFolder,
      method: () => Promise.reject(new Error('nothing is to be learned')),
      logger: pino({ level: 'silent' }),
      metrics: createWorkerMetrics(registry),
    };
    await runJob(context, job, leaseMs, new AbortController().signal);
    const text = await registry.metrics();
    return (series) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      );
  }
  const of = (name: string, type: string, reason?: string): string =>
    `engraft_${name}_tokens_total{kind="inference",type="${type}"${reason === undefined ? '' : `,reason="${reason}"`}}`;
  const usage = { inputTokens: 9, outputTokens: 3, cachedInputTokens: 4, reasoningTokens: 0 };

  it('is the work of an answer, all of which is charged', async () => {
    await admit();
    const value = await runNext(() => ({ usage }));
    for (const [type, count] of [
      ['input', 9],
      ['cached_input', 4],
      ['output', 3],
    ] as const) {
      assert.deepEqual([value(of('engine', type)), value(of('charged', type))], [count, count]);
      assert.equal(value(of('uncharged', type, 'repeated')), 0);
    }
    assert.equal(value('engraft_job_runs_total{kind="inference",outcome="succeeded"}'), 1);
  });

  it('is, apart from the charge, what an engine process lost that died', async () => {
    await admit();
    let calls = 0;
    const value = await runNext(() => {
      calls += 1;
      return calls === 1 ? Promise.reject(new EngineError('process_lost', 'a scripted death')) : { usage };
    });
    assert.deepEqual([value(of('charged', 'input')), value(of('uncharged', 'input', 'repeated'))], [9, 9]);
    assert.equal(value('engraft_engine_calls_lost_total{kind="inference"}'), 1);
    assert.equal(value('engraft_jobs_taken_over_total{kind="inference"}'), 0);
    assert.equal(value('engraft_job_runs_total{kind="inference",outcome="failed"}'), 0);
  });

  it('is, apart from the charge, what a worker lost that died', async () => {
    const id = await admit();
    assert.equal((await claim())?.job_id, id);
    const over = { lease_expires_at: sql<Date>`now()` };
    await database.db.updateTable('jobs').set(over).where('id', '=', id).execute();
    const value = await runNext(() => ({ usage }));
    assert.deepEqual([value(of('charged', 'output')), value(of('uncharged', 'output', 'repeated'))], [3, 3]);
    assert.equal(value('engraft_jobs_taken_over_total{kind="inference"}'), 1);
    const job = await database.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    assert.equal(job.output_tokens, 3, 'in no usage');
  });

  it('is a phase that was cut off where the engine died in it, and learning began it again', async () => {
    await admitTestLearning(database.db, key);
    const job = await claimJob(database.db, { worker_id: 'w', kind: 'internalization', leaseMs });
    assert.ok(job !== null);
    const registry = new Registry();
    const engine = scriptedEngine(() => ({}));
    const observation = new JobObservation(job, engine, noTracing, createWorkerMetrics(registry));
    for (const phase of ['scoring', 'scoring', 'training'] as const) observation.entered(phase);
    const text = await registry.metrics();
    for (const outcome of ['cut_off', 'done']) {
      assert.match(text, new RegExp(`phase_seconds_count\\{phase="scoring",outcome="${outcome}"\\} 1\n`));
    }
  });

  it('is waived where the job fails by no fault of its own', async () => {
    await admit();
    const value = await runNext(() => Promise.reject(new EngineError('internal', 'a scripted fault')));
    assert.equal(value(of('charged', 'input')), 0);
    assert.equal(value('engraft_job_runs_total{kind="inference",outcome="failed"}'), 1);
  });
});
