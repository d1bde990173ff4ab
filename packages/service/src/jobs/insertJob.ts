import type { TenantId } from '@engraft/contract';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { serializeJobRequest, type JobRequest } from './jobRequest.js';

export interface NewJob {
  readonly id: string;
  readonly project_id: string;
  readonly tenant_id: TenantId;
  /** `null`: a chat completion without a subject. */
  readonly subject_ref: string | null;
  readonly subject_name: string;
  readonly api_key_id: string;
  readonly adapter_version: string;
  readonly request: JobRequest;
  readonly pricing_version: string;
  readonly reserved_microusd: number;
  /** Of the request, see `tracing.ts`; `null`: it has none. */
  readonly trace_context?: string | null;
}

/** A queued job, in the transaction that also makes its reservation. */
export async function insertJob(trx: Transaction<Database>, job: NewJob): Promise<void> {
  // When the job gets its sequence, not when the transaction began: an admission that waited in between would otherwise
  // be listed as newer than others and show an earlier time.
  const inserted_at = sql<Date>`statement_timestamp()`;
  await trx
    .insertInto('jobs')
    .values({
      ...job,
      kind: job.request.kind,
      request: serializeJobRequest(job.request),
      created_at: inserted_at,
      updated_at: inserted_at,
    })
    .execute();
}
