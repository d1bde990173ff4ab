import type { TenantId } from '@engraft/contract';
import type { Transaction } from 'kysely';
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
}

/** A queued job, in the transaction that also makes its reservation. */
export async function insertJob(trx: Transaction<Database>, job: NewJob): Promise<void> {
  await trx
    .insertInto('jobs')
    .values({ ...job, kind: job.request.kind, request: serializeJobRequest(job.request) })
    .execute();
}
