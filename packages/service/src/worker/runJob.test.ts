import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { EngineError } from '@engraft/engine';
import { sql } from 'kysely';
import { pino } from 'pino';
import { openFolderStore } from '../adapterStore/folderStore.js';
import { openWorkFolder } from '../adapterStore/workFolder.js';
import { admitJob } from '../admission/admitJob.js';
import { claimJob } from '../jobs/claimJob.js';
import type { InferenceJobRequest } from '../jobs/jobRequest.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { scriptedEngine, type ScriptedReply } from '../testing/scriptedEngine.js';
import type { JobContext, RunOutcome } from './jobContext.js';
import { NoTrainingProcess } from './noTrainingProcess.js';
import { runJob } from './runJob.js';

const leaseMs = 60_000;
const question: InferenceJobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'a secret question' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 12,
  temperature: 0,
};

describe('running a job', () => {
  let database: TestDatabase;
  let key: TestKey;
  let dataFolder: string;
  let admitted = 0;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-run-'));
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
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
        subject_id: 'anna',
        adapter_version: undefined,
        endpoint: '/v1/inferences',
        idempotency_key: `run-job-${admitted}`,
        request: question,
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  }

  /** Claims the only job there is and runs it on an engine that answers as told. */
  async function runNext(reply: () => ScriptedReply): Promise<RunOutcome> {
    const job = await claimJob(database.db, { worker_id: 'w', kind: 'inference', leaseMs });
    assert.ok(job !== null);
    const context: JobContext = {
      db: database.db,
      engine: scriptedEngine(reply),
      store: await openFolderStore(dataFolder),
      dataFolder,
      method: () => Promise.reject(new Error('nothing is to be learned')),
      logger: pino({ level: 'silent' }),
    };
    return runJob(context, job, leaseMs, new AbortController().signal);
  }

  const read = (jobId: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();

  for (const code of ['batch_lost', 'process_lost'] as const) {
    it(`repeats an answer that was lost with others (${code}), and charges it once`, async () => {
      const id = await admit();
      let calls = 0;
      const outcome = await runNext(() => {
        calls += 1;
        return calls === 1 ? Promise.reject(new EngineError(code, 'lost')) : {};
      });
      assert.deepEqual([calls, outcome], [2, { kind: 'ended', status: 'succeeded' }]);
      const job = await read(id);
      // 9 tokens read at 12 micro-USD, 3 written at 30.
      assert.deepEqual([job.attempts, job.input_tokens, job.output_tokens, job.charged_microusd], [1, 9, 3, 198]);
    });
  }

  it('hands a job back when there is no engine to run it, and holds nothing against the job', async () => {
    const id = await admit();
    const outcome = await runNext(() => Promise.reject(new EngineError('not_running', 'no process')));
    // Nothing to wait for: no job is claimed until the process that answers is back.
    assert.deepEqual(outcome, { kind: 'handed_back' });
    const job = await read(id);
    assert.deepEqual([job.status, job.attempts, job.settled], ['queued', 0, false]);
    assert.deepEqual(await runNext(() => ({})), { kind: 'ended', status: 'succeeded' });
  });

  it('gives up a job with which a process to train in is lost ever again, and none against which it waits', async () => {
    const id = await admit();
    // A fault injector: as learning fails whose trainer dies and is not back at once, or is away from the beginning.
    const away = new NoTrainingProcess(new EngineError('not_running', 'no trainer is free'));
    const waiting = { kind: 'handed_back', waitsFor: 'engine' };
    assert.deepEqual(await runNext(() => Promise.reject(away)), waiting);
    assert.equal((await read(id)).attempts, 0);
    for (let claim = 1; claim <= 10; claim += 1) {
      let calls = 0;
      const outcome = await runNext(() => {
        calls += 1;
        return Promise.reject(calls === 1 ? new EngineError('process_lost', 'the trainer is lost') : away);
      });
      assert.deepEqual(outcome, waiting);
      assert.equal((await read(id)).attempts, claim);
    }
    const given = await runNext(() => ({}));
    assert.deepEqual(given, { kind: 'ended', status: 'failed', error_code: 'engine_failed' });
  });

  it('hands a job back that finds no room on a disk, and holds nothing against the job', async () => {
    const id = await admit();
    const full = () => Promise.reject(new EngineError('storage_full', 'there is no room on a disk'));
    assert.deepEqual(await runNext(full), { kind: 'handed_back', waitsFor: 'disk' });
    const job = await read(id);
    assert.deepEqual([job.status, job.attempts, job.settled, job.charged_microusd], ['queued', 0, false, 0]);
    assert.deepEqual(await runNext(() => ({})), { kind: 'ended', status: 'succeeded' });
  });

  it('hands a job back when the database has no room on its disk', async () => {
    const id = await admit();
    // A fault injector: PostgreSQL's own error, as it comes when a table cannot be extended.
    await sql`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`.execute(database.owner);
    await sql`create trigger no_room before insert on transfers for each row execute function no_room()`.execute(
      database.owner,
    );
    assert.deepEqual(await runNext(() => ({})), { kind: 'handed_back', waitsFor: 'disk' });
    const job = await read(id);
    assert.deepEqual([job.status, job.attempts, job.settled], ['queued', 0, false]);
    await sql`drop trigger no_room on transfers`.execute(database.owner);
    assert.deepEqual(await runNext(() => ({})), { kind: 'ended', status: 'succeeded' });
  });

  it('does not repeat what failed by its own fault, and charges nothing', async () => {
    const id = await admit();
    let calls = 0;
    const outcome = await runNext(() => {
      calls += 1;
      return Promise.reject(new EngineError('internal', 'failed'));
    });
    assert.deepEqual([calls, outcome], [1, { kind: 'ended', status: 'failed', error_code: 'engine_failed' }]);
    assert.equal((await read(id)).charged_microusd, 0);
  });

  it('fails a job whose stored request cannot be read any more, for free, and keeps nothing of its texts', async () => {
    const id = await admit();
    const stored = JSON.stringify({ ...question, messages: [{ role: 'oracle', content: 'a secret question' }] });
    await database.db.updateTable('jobs').set({ request: stored }).where('id', '=', id).execute();
    const outcome = await runNext(() => ({}));
    assert.deepEqual(outcome, { kind: 'ended', status: 'failed', error_code: 'internal_error' });
    const job = await read(id);
    assert.deepEqual([job.status, job.charged_microusd, job.settled, job.request], ['failed', 0, true, null]);
  });

  it('gives every claim a work folder of its own', async () => {
    const lease = { job_id: 'job_x', fencing_token: 1 };
    const folder = await openWorkFolder(dataFolder, lease);
    assert.notEqual(await openWorkFolder(dataFolder, { ...lease, fencing_token: 2 }), folder);
    assert.equal(await openWorkFolder(dataFolder, lease), folder);
  });
});
