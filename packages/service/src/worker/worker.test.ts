import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  computeChargeMicrousd,
  currentPriceCard,
  learningResult,
  type JobStatus,
  type TenantId,
} from '@engraft/contract';
import { type Engine, type EngineExit, type EngineHost, startEngineHost } from '@engraft/engine';
import { sql } from 'kysely';
import { pino, type Logger } from 'pino';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { readConfig } from '../config/config.js';
import { chatPromptOf } from '../jobs/chatPrompt.js';
import { claimJob } from '../jobs/claimJob.js';
import type { InferenceJobRequest, JobRequest } from '../jobs/jobRequest.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { type LoadedEngine, loadEngine, loadPromptMeter } from '../startup/model.js';
import type { PromptMeter } from '../pricing/priceRequest.js';
import { createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { expireVersion } from '../versions/expireVersion.js';
import { startWorker, type Worker } from './worker.js';

const passage = 'The Halden Observatory was founded in 1923 by Marta Ilves.';

const question: InferenceJobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'Who founded the observatory?' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 12,
  temperature: 0,
};
const learning: JobRequest = {
  kind: 'internalization',
  content: passage,
  max_cost_microusd: 1_500_000,
  activate: true,
};

/** With the shipped model on the real engine. */
describe('worker', () => {
  let database: TestDatabase;
  let key: TestKey;
  let loaded: LoadedEngine<EngineHost>;
  let meter: PromptMeter;
  let dataFolder: string;
  let store: FolderStore;
  let workers: Worker[] = [];
  let admitted = 0;
  const logger = pino({ level: 'silent' });

  before(async () => {
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-worker-'));
    const config = readConfig({ data: dataFolder }, {});
    store = await openFolderStore(dataFolder);
    database = await openTestDatabase({ maxConnections: 24 });
    key = await createTestKey(database.db, await createTestProject(database.db));
    loaded = await loadEngine(config, logger);
    meter = await loadPromptMeter(config.modelFolder);
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

  function start(options: { leaseMs?: number; logger?: Logger; engine?: Engine } = {}): Worker {
    const worker = startWorker({ ...loaded, logger, ...options, db: database.db, store, dataFolder, pollMs: 20 });
    workers.push(worker);
    return worker;
  }

  async function admit(
    request: JobRequest,
    subjectId = 'anna',
    adapterVersion?: string,
    caller: { key: TestKey; tenant_id: TenantId } = { key, tenant_id: null },
  ): Promise<string> {
    admitted += 1;
    const outcome = await admitJob(
      { ...meter, db: database.db, execution: 'on', open_jobs: plentyOfJobs },
      {
        ...caller,
        subject_id: subjectId,
        adapter_version: adapterVersion,
        endpoint: '/v1/test',
        idempotency_key: `worker-${admitted}`,
        request,
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
    return outcome.job_id;
  }

  const read = (jobId: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();

  async function until(jobId: string, wanted: (job: Awaited<ReturnType<typeof read>>) => boolean) {
    const deadline = Date.now() + 60_000;
    while (Date.now() < deadline) {
      const job = await read(jobId);
      if (wanted(job)) return job;
      await sleep(20);
    }
    throw new Error(`${jobId} did not get there: ${JSON.stringify(await read(jobId))}`);
  }
  const ended = (jobId: string) => until(jobId, ({ settled }) => settled);

  it('answers, and charges what was measured', async () => {
    start();
    const job = await ended(await admit(question));
    assert.equal(job.status, 'succeeded');
    assert.equal(job.input_tokens, await meter.countTokens(chatPromptOf(question)));
    assert.ok(job.output_tokens > 0 && job.output_tokens <= 12);
    assert.ok(job.charged_microusd > 0 && job.charged_microusd <= job.reserved_microusd);
  });

  it('"counts prompt tokens whose attention state was really reused from an earlier request of the same project, tenant and adapter"', async () => {
    start();
    const content = 'The lighthouse keeper of Varn wrote down the weather of every single day. '.repeat(8);
    const long: InferenceJobRequest = { ...question, messages: [{ role: 'user', content }] };
    const stranger = await createTestKey(database.db, await createTestProject(database.db));
    const ask = async (caller: { key: TestKey; tenant_id: TenantId }) =>
      ended(await admit(long, 'anna', undefined, caller));
    const first = await ask({ key, tenant_id: null });
    const again = await ask({ key, tenant_id: null });
    const others = [await ask({ key, tenant_id: 'acme' }), await ask({ key: stranger, tenant_id: null })];
    assert.ok(again.cached_input_tokens > 64 && again.cached_input_tokens < again.input_tokens);
    assert.deepEqual(
      [first, ...others].map(({ cached_input_tokens }) => cached_input_tokens),
      [0, 0, 0],
    );
    assert.ok(again.charged_microusd < first.charged_microusd);
    for (const job of [first, again, ...others]) {
      assert.deepEqual(job.result, first.result);
      assert.equal(job.reserved_microusd, first.reserved_microusd);
      assert.equal(job.charged_microusd, computeChargeMicrousd(job, currentPriceCard));
    }
  });

  it('runs several workers over one queue, each job once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => admit(question)));
    start();
    start();
    const jobs = await Promise.all(ids.map(ended));
    assert.deepEqual(new Set(jobs.map(({ status }) => status)), new Set<JobStatus>(['succeeded']));
    assert.deepEqual(new Set(jobs.map(({ attempts }) => attempts)), new Set([1]));
    assert.equal(new Set(jobs.map(({ result }) => JSON.stringify(result))).size, 1, 'greedy is repeatable');
  });

  it('fails an answer that is no JSON object where one was asked for, with its tokens charged', async () => {
    start();
    const job = await ended(await admit({ ...question, response_format: { type: 'json_object' } }));
    assert.deepEqual([job.status, job.error_code, job.result], ['failed', 'invalid_json_output', null]);
    assert.ok(job.charged_microusd > 0);
  });

  it('learns a passage to a known end while it answers questions', async () => {
    const worker = start();
    const learningId = await admit(learning, 'berta');
    await until(learningId, ({ phase }) => phase !== 'queued');
    const answer = await ended(await admit(question));
    assert.equal(answer.status, 'succeeded');
    const learned = await ended(learningId);
    assert.ok(['ready', 'rejected'].includes(learned.status), learned.status);
    assert.ok(learned.charged_microusd > 0 && learned.charged_microusd <= learned.reserved_microusd);
    assert.doesNotMatch(JSON.stringify(learned.request), /Halden/);
    await worker.stop(0);
    assert.deepEqual(await readdir(path.join(dataFolder, 'work')), []);
    const versions = await database.db
      .selectFrom('versions')
      .select('adapter_hash')
      .where('source_job_id', '=', learningId)
      .execute();
    assert.equal(versions.length, learned.status === 'ready' ? 1 : 0);
    for (const { adapter_hash } of versions) assert.ok(await store.has(adapter_hash));
  });

  it('says in its log why a candidate was rejected, while its result is what the contract has', async () => {
    const lines: string[] = [];
    const worker = start({ logger: pino({ level: 'info' }, { write: (line) => void lines.push(line) }) });
    const content = 'qwpo zxmn vbty plok rtgh wqas zxcv poiu lkjh mnbv.';
    const job = await ended(await admit({ ...learning, content }, 'hilda'));
    await worker.stop(1_000);
    assert.equal(job.status, 'rejected');
    const run = lines.find((line) => line.includes('job run')) ?? '';
    assert.match(run, /"gate":\{"reasons":\["too_few_validated"\],"canaries":\{"candidate":0,/);
    assert.deepEqual(job.result, learningResult.parse(job.result));
  });

  it('hands learning back when it is stopped, and another worker goes on with it', async () => {
    const jobId = await admit(learning, 'carla');
    const first = start();
    await until(jobId, ({ phase }) => phase === 'scoring' || phase === 'training' || phase === 'done');
    await first.stop(0);
    const between = await read(jobId);
    if (!between.settled) assert.deepEqual([between.status, between.worker_id, between.attempts], ['queued', null, 0]);
    start();
    assert.ok(['ready', 'rejected'].includes((await ended(jobId)).status));
  });

  it('lets running answers finish when it is stopped with time to do so', async () => {
    const worker = start();
    const jobId = await admit(question);
    await until(jobId, ({ status }) => status !== 'queued');
    await worker.stop(10_000);
    assert.equal((await read(jobId)).status, 'succeeded');
  });

  it('repeats work whose engine process was killed, and charges it once', async () => {
    start();
    const jobId = await admit(learning, 'dora');
    await until(jobId, ({ phase }) => phase === 'teaching');
    if (loaded.engine.pid !== undefined) process.kill(loaded.engine.pid, 'SIGKILL');
    const job = await ended(jobId);
    assert.ok(['ready', 'rejected'].includes(job.status), job.error_code ?? job.status);
    const [sum] = await database.db
      .selectFrom('job_phases')
      .select(sql<number>`sum(input_tokens)::float8`.as('input_tokens'))
      .where('job_id', '=', jobId)
      .execute();
    assert.equal(job.input_tokens, sum?.input_tokens, 'each phase is counted once');
  });

  it('repeats training whose process hangs, in the same claim', { skip: process.platform === 'win32' }, async () => {
    const { modelFolder } = readConfig({ data: dataFolder }, {});
    const engine = await startEngineHost({ modelDir: modelFolder, watch: { silenceMs: 2_000 }, logger });
    const losses: EngineExit[] = [];
    engine.onExit((loss) => losses.push(loss));
    const worker = start({ engine });
    const jobId = await admit(learning, 'gesa');
    while (engine.trainingPids.length === 0) await sleep(5);
    for (const pid of engine.trainingPids) process.kill(pid, 'SIGSTOP');
    const job = await ended(jobId);
    await worker.stop(0);
    await engine.close();
    assert.ok(['ready', 'rejected'].includes(job.status), job.error_code ?? job.status);
    assert.equal(job.fencing_token, 1, 'it was claimed once');
    assert.ok(losses.some(({ purpose, reason }) => purpose === 'training' && reason === 'unresponsive'));
  });

  it('takes over from a worker that is not heard of', async () => {
    const jobId = await admit(question);
    await claimJob(database.db, { worker_id: 'dead', kind: 'inference', leaseMs: 300 });
    start();
    const job = await ended(jobId);
    assert.deepEqual([job.status, job.attempts], ['succeeded', 2]);
  });

  it('keeps its jobs for as long as it lives, however short the lease', async () => {
    start({ leaseMs: 900 });
    start({ leaseMs: 900 });
    const jobId = await admit(learning, 'emil');
    await until(jobId, ({ status }) => status !== 'queued');
    await sleep(3_000);
    assert.equal((await read(jobId)).fencing_token, 1, 'it was claimed once');
  });

  it('gives up a job whose workers always died', async () => {
    const jobId = await admit(question);
    await database.db.updateTable('jobs').set({ attempts: 10 }).where('id', '=', jobId).execute();
    start();
    const job = await ended(jobId);
    assert.deepEqual([job.status, job.error_code, job.charged_microusd], ['failed', 'engine_failed', 0]);
  });

  it('fails a job whose version expired after its admission, for free', async () => {
    const version = await createTestVersion(database.db, key, { subject_id: 'frida' });
    const jobId = await admit(question, 'frida', version.id);
    await expireVersion(database.db, version.id);
    start();
    const job = await ended(jobId);
    assert.deepEqual([job.status, job.error_code, job.charged_microusd], ['failed', 'adapter_expired', 0]);
  });

  it('fails a job whose adapter files are gone, for free', async () => {
    const version = await createTestVersion(database.db, key, { subject_id: 'gerd' });
    const adapterHash = `sha256:${'e'.repeat(64)}`;
    await database.db.updateTable('versions').set({ adapter_hash: adapterHash }).where('id', '=', version.id).execute();
    start();
    const job = await ended(await admit(question, 'gerd', version.id));
    assert.deepEqual([job.status, job.error_code, job.charged_microusd], ['failed', 'adapter_damaged', 0]);
  });
});
