import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

/**
 * The right to run a job. It belongs to the last worker that claimed the job, and every claim increments its fencing
 * token. Each write of a worker names its token, so a worker that has lost its lease changes nothing any more.
 */
export interface JobLease {
  readonly job_id: string;
  readonly fencing_token: number;
}

/** `lost` means that the lease has passed to another worker or the job has ended. Nothing was changed. */
export type LeasedWrite = 'done' | 'lost';

/** The part of a job that is needed to end it. */
export interface LeasedJob {
  readonly id: string;
  readonly project_id: string;
  readonly subject_ref: string | null;
  readonly adapter_version: string;
  readonly reserved_microusd: number;
  readonly pricing_version: string;
  readonly request: unknown;
}

/**
 * Reads the job and holds it until the transaction ends. `null` if the lease is lost. Order of locks: the job before
 * its subject, the subject before the project's accounts.
 */
export async function lockLeasedJob(trx: Transaction<Database>, lease: JobLease): Promise<LeasedJob | null> {
  const row = await trx
    .selectFrom('jobs')
    .select(['id', 'project_id', 'subject_ref', 'adapter_version', 'reserved_microusd', 'pricing_version', 'request'])
    .where('id', '=', lease.job_id)
    .where('fencing_token', '=', lease.fencing_token)
    .where('status', '=', 'running')
    .modifyEnd(sql`for no key update`)
    .executeTakeFirst();
  return row ?? null;
}
