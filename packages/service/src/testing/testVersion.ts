import type { TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import { admitJob } from '../admission/admitJob.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { settleReservation } from '../ledger/settleReservation.js';
import { activateVersion } from '../versions/activateVersion.js';
import { saveVersion } from '../versions/saveVersion.js';
import { countUnits, plentyOfJobs, type TestKey } from './testApp.js';

export interface TestVersion {
  readonly id: string;
  readonly subject_ref: string;
  readonly job_id: string;
}

let learned = 0;

interface SubjectOptions {
  readonly subject_id?: string;
  readonly tenant_id?: TenantId;
}

/** Admits a learning job that waits, with 1 USD reserved. Returns its id. */
export async function admitTestLearning(
  db: Kysely<Database>,
  key: TestKey,
  options: SubjectOptions = {},
): Promise<string> {
  learned += 1;
  const outcome = await admitJob(
    { db, countTokens: countUnits, contextLength: 1_000, execution: 'on', open_jobs: plentyOfJobs },
    {
      key,
      tenant_id: options.tenant_id ?? null,
      subject_id: options.subject_id ?? 'subject',
      adapter_version: undefined,
      endpoint: '/v1/internalizations',
      idempotency_key: `test-version-${learned}`,
      request: { kind: 'internalization', content: 'x'.repeat(20), max_cost_microusd: 1_000_000, activate: true },
    },
  );
  if (outcome.kind !== 'admitted') throw new Error(JSON.stringify(outcome));
  return outcome.job_id;
}

/** Makes a version as a learning job leaves it: admitted, settled for 1 USD, saved and, by default, active. */
export async function createTestVersion(
  db: Kysely<Database>,
  key: TestKey,
  options: SubjectOptions & {
    readonly activate?: boolean;
    readonly base_model_hash?: string;
    readonly adapter_hash?: string;
  } = {},
): Promise<TestVersion> {
  const jobId = await admitTestLearning(db, key, options);
  return inTransaction(db, null, async (trx) => {
    const job = await trx.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
    if (job.subject_ref === null) throw new Error('a learning job without a subject');
    const subject = await trx
      .selectFrom('subjects')
      .selectAll()
      .where('id', '=', job.subject_ref)
      .executeTakeFirstOrThrow();
    const { id } = await saveVersion(trx, {
      subject_ref: subject.id,
      parent_version_id: subject.active_version_id,
      source_job_id: jobId,
      adapter_hash: options.adapter_hash ?? `sha256:${'0'.repeat(64)}`,
      base_model_hash: options.base_model_hash ?? null,
      size_bytes: 1_000,
      passed_count: 7,
      total_count: 8,
      rehearsal: {},
      hosting_hours: 24,
    });
    if (options.activate !== false) {
      const activation = { subject_ref: subject.id, version_id: id, expected_version_id: subject.active_version_id };
      await activateVersion(trx, activation);
    }
    await settleReservation(trx, { project_id: key.project_id, job_id: jobId, charged_microusd: 1_000_000 });
    await trx
      .updateTable('jobs')
      .set({ status: 'ready', phase: 'done', settled: true, compute_microusd: 1_000_000 })
      .where('id', '=', jobId)
      .execute();
    return { id, subject_ref: subject.id, job_id: jobId };
  });
}

export async function expireTestVersion(db: Kysely<Database>, versionId: string): Promise<void> {
  await db
    .updateTable('versions')
    .set({ expires_at: sql<Date>`now()`, retention_ended_at: sql<Date>`now()` })
    .where('id', '=', versionId)
    .execute();
}
