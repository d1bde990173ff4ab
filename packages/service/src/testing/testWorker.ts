import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineHost } from '@engraft/engine';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type FolderStore, openFolderStore } from '../adapterStore/folderStore.js';
import { admitJob } from '../admission/admitJob.js';
import { readConfig } from '../config/config.js';
import type { JobRequest } from '../jobs/jobRequest.js';
import { loadEngine, loadPromptMeter, type LoadedEngine } from '../startup/model.js';
import { startWorker, type Worker, type WorkerOptions } from '../worker/worker.js';
import { createWorkerMetrics } from '../worker/workerMetrics.js';
import { createTestKey, createTestProject, plentyOfJobs, type TestKey } from './testApp.js';
import { readJobRow } from './readJobRow.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';

/** A worker on the real engine with the shipped model, and its log and metrics so far. */
export interface TestWorker extends LoadedEngine<EngineHost> {
  readonly db: TestDatabase['db'];
  readonly key: TestKey;
  readonly store: FolderStore;
  readonly dataFolder: string;
  /** Every log line so far, as text. */
  readonly log: () => string;
  /** The value of a metric without labels, or `NaN` if there is none. */
  readonly metric: (name: string) => Promise<number>;
  readonly admit: (subjectId: string, request: JobRequest) => Promise<string>;
  readonly read: (jobId: string) => ReturnType<typeof readJobRow>;
  /** Resolves with what `wanted` gives, as soon as it gives something. Throws after five minutes. */
  readonly until: <Value>(wanted: () => Promise<Value | null>) => Promise<Value>;
  start(options?: Partial<WorkerOptions>): Worker;
  stop(): Promise<void>;
}

const patienceMs = 300_000;

export const testPassage: JobRequest = {
  kind: 'internalization',
  content: 'Velona is a software company in Ghent. Velona was started in 2015 by Sara Deck. Velona has 75 employees.',
  max_cost_microusd: 2_000_000,
  activate: true,
};

export const testQuestion: JobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'Where is Velona?' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 12,
  temperature: 0,
};

/** @param given the data folder, which is kept; by default a new one */
export async function openTestWorker(given?: string): Promise<TestWorker> {
  const dataFolder = given ?? (await mkdtemp(path.join(tmpdir(), 'engraft-worker-')));
  const database = await openTestDatabase({ maxConnections: 16 });
  const { db } = database;
  const key = await createTestKey(db, await createTestProject(db));
  const store = await openFolderStore(dataFolder);
  let log = '';
  const logger = pino(
    { level: 'info' },
    {
      write: (line) => {
        log += line;
      },
    },
  );
  const config = readConfig({ data: dataFolder }, {});
  const loaded = await loadEngine(config, logger);
  const meter = await loadPromptMeter(config.modelFolder);
  const metrics = new Registry();
  const workerMetrics = createWorkerMetrics(metrics);
  const workers: Worker[] = [];
  let admitted = 0;
  return {
    ...loaded,
    db,
    key,
    store,
    dataFolder,
    log: () => log,
    metric: async (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.metrics())?.[1]),
    admit: async (subjectId, request) => {
      admitted += 1;
      const call = { key, tenant_id: null, subject_id: subjectId, adapter_version: undefined, endpoint: '/v1/test' };
      const outcome = await admitJob(
        { ...meter, db, execution: 'on', open_jobs: plentyOfJobs },
        { ...call, idempotency_key: `test-worker-${admitted}`, request },
      );
      if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
      return outcome.job_id;
    },
    read: (jobId) => readJobRow(db, jobId),
    until: async (wanted) => {
      const deadline = Date.now() + patienceMs;
      while (Date.now() < deadline) {
        const value = await wanted();
        if (value !== null) return value;
        await sleep(20);
      }
      throw new Error(`it did not get there: ${log}`);
    },
    start: (options = {}) => {
      // Uses fewer rows than the model brings, to save time.
      const method = async () => {
        const { replay, ...rest } = await loaded.method();
        return { ...rest, replay: replay.slice(0, 24) };
      };
      const parts = { ...loaded, method, db, store, dataFolder, logger, metrics: workerMetrics, pollMs: 20 };
      const worker = startWorker({ ...parts, ...options });
      workers.push(worker);
      return worker;
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await loaded.engine.close();
      await database.close();
      if (given === undefined) await rm(dataFolder, { recursive: true });
    },
  };
}
