import type { TenantId } from '@engraft/contract';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { serializeJobRequest, type JobRequest } from './jobRequest.js';

export interface NewJob {
  readonly id: string;
  readonly project_id: string;
  readonly tenant_id: TenantId;
  /** `null` for a chat completion without a subject. */
  readonly subject_ref: string | null;
  readonly subject_name: string;
  readonly api_key_id: string;
  readonly adapter_version: string;
  readonly request: JobRequest;
  readonly pricing_version: string;
  readonly reserved_microusd: number;
  /** The request's trace context, see `tracing.ts`. `null` if it has none. */
  readonly trace_context?: string | null;
}

/** Inserts a queued job, in the transaction that also makes its reservation. */
export async function insertJob(trx: Transaction<Database>, job: NewJob): Promise<void> {
  // The time when the job gets its sequence, not when the transaction began. Otherwise an admission that waited in
  // between would be listed as newer than others and show an earlier time.
  const insertedAt = sql<Date>`statement_timestamp()`;
  await trx
    .insertInto('jobs')
    .values({
      ...job,
      kind: job.request.kind,
      request: serializeJobRequest(job.request),
      created_at: insertedAt,
      updated_at: insertedAt,
    })
    .execute();
}
