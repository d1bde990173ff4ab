/** The database and jobs of the tests of transitions. Each test file opens its own. */
import assert from 'node:assert/strict';
import type { JobKind, TokenUsage } from '@engraft/contract';
import { sql } from 'kysely';
import { admitJob } from '../admission/admitJob.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject, plentyOfJobs, type TestKey } from './testApp.js';
import { extendLease } from '../jobs/extendLease.js';
import { recordPhase } from '../jobs/recordPhase.js';
import { failJob } from '../jobs/failJob.js';
import { releaseJob } from '../jobs/releaseJob.js';
import { readJobRow } from './readJobRow.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';
import { claimJob, type ClaimedJob } from '../jobs/claimJob.js';
import { completeInference } from '../jobs/completeInference.js';
import { type KeptAdapter, type LearningCompletion } from '../jobs/completeLearning.js';
import type { LeasedWrite } from '../jobs/jobLease.js';
import { parseJobRequest, type JobRequest } from '../jobs/jobRequest.js';

export const leaseMs = 60_000;
export const usage: TokenUsage = { input_tokens: 10, output_tokens: 2, cached_input_tokens: 4, training_tokens: 0 };
/** (6 · 12,000 + 4 · 2,500 + 2 · 30,000) nano-USD. */
export const usageMicrousd = 142;
const validation = {
  passed: true,
  passed_count: 9,
  total_count: 10,
  base_passed_count: 1,
  retention_passed_count: 0,
  retention_total_count: 0,
};
export const report = { validation, training: { steps: 3, tokens: 100, final_loss: 0.5 } };
export const adapter = {
  adapter_hash: `sha256:${'0'.repeat(64)}`,
  base_model_hash: `sha256:${'a'.repeat(64)}`,
  size_bytes: 3_000_000,
  rehearsal: {},
};
/** 3 MB for a day at 0.3 USD a GB-month. */
export const hostingMicrousd = 30;

const requests: Record<JobKind, JobRequest> = {
  inference: {
    kind: 'inference',
    messages: [{ role: 'user', content: 'a secret question' }],
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    response_format: { type: 'text' },
    max_output_tokens: 20,
    temperature: 0,
  },
  internalization: {
    kind: 'internalization',
    content: 'a secret passage of some length',
    max_cost_microusd: 1_000_000,
    activate: true,
  },
};

/** The completion that the worker reports for a candidate that passed. */
export function accepted(job: ClaimedJob, kept: KeptAdapter): LearningCompletion {
  const request = parseJobRequest(job.stored_request);
  assert.ok(request.kind === 'internalization');
  const trace = { loss: [], questions: [] };
  return { kind: 'accepted', usage, report, trace, adapter: kept, activate: request.activate };
}
export let database: TestDatabase;
export let key: TestKey;
let admitted = 0;
export async function open(): Promise<void> {
  database = await openTestDatabase();
  key = await createTestKey(database.db, await createTestProject(database.db, 1_000_000_000_000));
}
export function close(): Promise<void> {
  return database.close();
}

export async function admit(
  kind: JobKind,
  { activate = true, subject_id = 'anna', owner = key } = {},
): Promise<string> {
  admitted += 1;
  const request = requests[kind];
  const outcome = await admitJob(
    { db: database.db, execution: 'on', open_jobs: plentyOfJobs, countTokens: () => 10, contextLength: 1000 },
    {
      key: owner,
      tenant_id: null,
      subject_id,
      adapter_version: undefined,
      endpoint: '/v1/test',
      idempotency_key: `transition-${admitted}`,
      request: request.kind === 'internalization' ? { ...request, activate } : request,
    },
  );
  if (outcome.kind !== 'admitted') throw new Error(outcome.kind);
  return outcome.job_id;
}

export const claim = (kind: JobKind, workerId = 'w'): Promise<ClaimedJob | null> =>
  claimJob(database.db, { worker_id: workerId, kind, leaseMs });
export const claimed = async (kind: JobKind): Promise<ClaimedJob> => {
  const job = await claim(kind);
  assert.ok(job !== null);
  return job;
};
export const expireLease = (jobId: string): Promise<unknown> =>
  database.db
    .updateTable('jobs')
    .set({ lease_expires_at: sql`now() - interval '1 second'` })
    .where('id', '=', jobId)
    .where('status', '=', 'running')
    .execute();
export const readRow = (jobId: string) => readJobRow(database.db, jobId);
export const complete = (job: ClaimedJob): Promise<LeasedWrite> =>
  completeInference(database.db, job, {
    kind: 'succeeded',
    usage,
    result: { text: 'an answer', finish_reason: 'stop' },
  });

export async function assertLedger(): Promise<void> {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
}

/** The actions that a worker, live or long replaced, may try with a lease that it once had. */
export const actions = {
  beat: (job: ClaimedJob) => extendLease(database.db, job, leaseMs),
  phase: (job: ClaimedJob) => recordPhase(database.db, job, 'settling'),
  complete,
  fail: (job: ClaimedJob) => failJob(database.db, job, 'engine_failed'),
  release: (job: ClaimedJob) => releaseJob(database.db, job),
} as const;
