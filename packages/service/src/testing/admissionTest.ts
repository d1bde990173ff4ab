/** The database, keys and operations of the tests of admission. Each test file opens its own. */
import assert from 'node:assert/strict';
import { inTransaction } from '../db/transaction.js';
import type { InferenceJobRequest, InternalizationJobRequest } from '../jobs/jobRequest.js';
import { settleReservation } from '../ledger/settleReservation.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { readJobRow } from './readJobRow.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from './testApp.js';
import { openTestDatabase, type TestDatabase } from './testDatabase.js';
import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from '../admission/admitJob.js';

export let database: TestDatabase;
export let context: AdmissionContext;
export async function open(): Promise<void> {
  database = await openTestDatabase();
  context = {
    db: database.db,
    countTokens: countUnits,
    contextLength: 1_000,
    execution: 'on',
    open_jobs: plentyOfJobs,
  };
}
export async function close(): Promise<void> {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
  await database.close();
}

/** 10 tokens as the test's tokenizer counts, and an output ceiling of 100: reserves 10 × 12 + 100 × 30 micro-USD. */
export const question: InferenceJobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'question?' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 100,
  temperature: 0,
};
export const questionMicrousd = 3_120;

export const passage: InternalizationJobRequest = {
  kind: 'internalization',
  content: 'x'.repeat(20),
  max_cost_microusd: 1_000_000,
  activate: true,
};

let usedKeys = 0;

export function operation(key: TestKey, changes: Partial<ModelOperation> = {}): ModelOperation {
  usedKeys += 1;
  return {
    key,
    tenant_id: null,
    subject_id: 'subject',
    adapter_version: undefined,
    endpoint: changes.request?.kind === 'internalization' ? '/v1/internalizations' : '/v1/inferences',
    idempotency_key: `admission-${usedKeys}`,
    request: question,
    ...changes,
  };
}

export async function newKey(creditMicrousd = 100_000_000): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
}

export function admit(asked: ModelOperation, changes: Partial<AdmissionContext> = {}): Promise<AdmissionOutcome> {
  return admitJob({ ...context, ...changes }, asked);
}

export async function admitted(asked: ModelOperation): Promise<string> {
  const outcome = await admit(asked);
  if (outcome.kind !== 'admitted') assert.fail(JSON.stringify(outcome));
  return outcome.job_id;
}

export async function assertRefused(code: string, asked: ModelOperation, changes: Partial<AdmissionContext> = {}) {
  const outcome = await admit(asked, changes);
  assert.deepEqual([outcome.kind, outcome.kind === 'refused' ? outcome.code : null], ['refused', code]);
}

export function readRow(jobId: string) {
  return readJobRow(database.db, jobId);
}

export async function settle(key: TestKey, jobId: string, chargedMicrousd: number): Promise<void> {
  await inTransaction(database.db, null, async (trx) => {
    await settleReservation(trx, { project_id: key.project_id, job_id: jobId, charged_microusd: chargedMicrousd });
    await trx
      .updateTable('jobs')
      .set({ status: 'failed', settled: true, compute_microusd: chargedMicrousd })
      .where('id', '=', jobId)
      .execute();
  });
}
