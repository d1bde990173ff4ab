import assert from 'node:assert/strict';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@engraft/engine';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { cancelJob } from '../jobs/cancelJob.js';
import { recheckDamaged } from '../retention/recheckDamaged.js';
import { scriptedEngine } from '../testing/scriptedEngine.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning, createTestVersion } from '../testing/testVersion.js';
import { testQuestion } from '../testing/testWorker.js';
import { NoTrainingProcess } from './noTrainingProcess.js';
import { startWorker, type Worker, type WorkerOptions } from './worker.js';
import { createWorkerMetrics } from './workerMetrics.js';

/** No test waits for so long. */
const long = { firstMs: 600_000, longestMs: 600_000 };

describe('a worker that finds no room, no adapters or no process', () => {
  let database: TestDatabase;
  let key: TestKey;
  let dataFolder: string;
  let store: FolderStore;
  let worker: Worker | undefined;
  let logged: string[] = [];
  let asked = 0;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
    dataFolder = await mkdtemp(path.join(tmpdir(), 'engraft-pauses-'));
    store = await openFolderStore(dataFolder);
  });
  afterEach(async () => {
    await worker?.stop(0);
    logged = [];
    asked = 0;
  });
  after(async () => {
    await database.close();
    await rm(dataFolder, { recursive: true });
  });

  function start(options: Partial<WorkerOptions>): void {
    worker = startWorker({
      db: database.db,
      engine: scriptedEngine(() => ({})),
      method: () => Promise.reject(new Error('this worker learns nothing')),
      store,
      dataFolder,
      logger: pino({ level: 'info' }, { write: (line) => void logged.push(line) }),
      pollMs: 10,
      ...options,
    });
  }
  const ask = async (subjectId: string | null = null): Promise<string> => {
    asked += 1;
    const idempotencyKey = `pauses-${subjectId ?? 'none'}-${asked}`;
    const outcome = await admitJob(
      { db: database.db, countTokens: countUnits, contextLength: 1_000, execution: 'on', open_jobs: plentyOfJobs },
      {
        key,
        tenant_id: null,
        subject_id: subjectId,
        adapter_version: undefined,
        endpoint: '/v1/test',
        idempotency_key: idempotencyKey,
        request: testQuestion,
      },
    );
    assert.ok(outcome.kind === 'admitted');
    return outcome.job_id;
  };
  const read = (id: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  async function until(wanted: () => Promise<boolean> | boolean): Promise<void> {
    for (let tries = 0; tries < 3_000; tries += 1) {
      if (await wanted()) return;
      await sleep(20);
    }
    throw new Error(`it did not get there: ${logged.join('')}`);
  }
  const linesWith = (text: string): number => logged.filter((line) => line.includes(text)).length;

  it('repeats an answer for which the database has no room after a pause, and does not spin', async () => {
    // A fault injector: PostgreSQL's own error, as it comes when a table cannot be extended.
    await sql`create function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`.execute(database.owner);
    await sql`create trigger no_room before insert on transfers for each row when (new.kind <> 'reserve')
      execute function no_room()`.execute(database.owner);
    const id = await ask();
    start({ answerWait: long });
    await until(() => linesWith('a disk is full: answers wait for room on it') > 0);
    // A claim may have been under way at that moment.
    await sleep(500);
    await until(() => linesWith('job run') === linesWith('job claimed'));
    const claims = linesWith('job claimed');
    for (let more = 0; more < 3; more += 1) await ask();
    worker?.wake('inference');
    await sleep(500);
    assert.equal(linesWith('job claimed'), claims, 'nothing is claimed while it waits');
    await worker?.stop(0);
    start({ answerWait: { firstMs: 10, longestMs: 10 } });
    await until(() => linesWith('answers wait') > 2);
    await sql`drop trigger no_room on transfers`.execute(database.owner);
    await until(async () => (await read(id)).status === 'succeeded');
  });

  it('marks no version as damaged when all adapters are gone, and goes on when they are back', async () => {
    const version = await createTestVersion(database.db, key, { subject_id: 'anna' });
    const damaged = async (): Promise<boolean> => {
      const row = await database.db.selectFrom('versions').selectAll().where('id', '=', version.id).executeTakeFirst();
      return row?.damaged_at !== null;
    };
    await database.db
      .updateTable('versions')
      .set({ base_model_hash: `sha256:${'0'.repeat(64)}` })
      .execute();
    // A fault injector: the engine finds no file, as on a file system that is not mounted.
    const engine = scriptedEngine(({ adapter }) =>
      adapter === null ? {} : Promise.reject(new EngineError('adapter_damaged', 'no such folder')),
    );
    await rename(store.home, `${store.home}-away`);
    const id = await ask('anna');
    start({ engine, answerWait: long });
    await until(() => linesWith('the adapters cannot be reached: answers wait') > 0);
    // The log says so a moment before the job is handed back.
    await until(async () => (await read(id)).status === 'queued');
    assert.equal(await damaged(), false);
    await worker?.stop(0);
    await rename(`${store.home}-away`, store.home);
    start({ engine });
    await until(async () => (await read(id)).settled);
    assert.deepEqual([(await read(id)).error_code, await damaged()], ['adapter_damaged', true], 'this one is missing');
    assert.equal(await recheckDamaged(database.db, store), 0);
  });

  it('makes a passage wait for a process to train in, and holds nothing against it', async () => {
    const id = await admitTestLearning(database.db, key, { subject_id: 'carla' });
    const lacking = new NoTrainingProcess(new EngineError('not_running', 'a process could not be started'));
    start({ method: () => Promise.reject(lacking), storageWait: long });
    await until(() => linesWith('or no trainer is free: learning waits for it') > 0);
    await until(async () => (await read(id)).status === 'queued');
    const { attempts, settled, charged_microusd } = await read(id);
    assert.deepEqual([attempts, settled, charged_microusd, linesWith('job claimed')], [0, false, 0, 1]);
    const answer = await ask('carla');
    await until(async () => (await read(answer)).status === 'succeeded');
    assert.equal((await read(id)).status, 'queued', 'answers go on');
    await cancelJob(database.db, id);
  });

  it('says that learning waits for as long as it does, whoever ends the job', async () => {
    const registry = new Registry();
    const paused = async (): Promise<number> => {
      const metric = await registry.getSingleMetricAsString('engraft_learning_paused');
      return Number(/^engraft_learning_paused (\d)$/m.exec(metric)?.[1]);
    };
    const id = await admitTestLearning(database.db, key, { subject_id: 'berta' });
    const full = new EngineError('storage_full', 'there is no room on a disk');
    const wait = { firstMs: 1_000, longestMs: 1_000 };
    start({ method: () => Promise.reject(full), metrics: createWorkerMetrics(registry), storageWait: wait });
    await until(() => linesWith('a disk is full: learning waits') > 0);
    assert.equal(await paused(), 1);
    assert.equal((await cancelJob(database.db, id)).kind, 'cancelled');
    await until(async () => (await paused()) === 0);
  });
});
