import type { JobErrorCode } from '@engraft/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { endJob, waived } from './endJob.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from './jobLease.js';

/** running → failed with nothing charged: "the service's own infrastructure failures are waived". */
export async function failJob(
  db: Kysely<Database>,
  lease: JobLease,
  errorCode: Extract<
    JobErrorCode,
    | 'engine_failed'
    | 'adapter_expired'
    | 'adapter_damaged'
    | 'adapter_unavailable'
    | 'base_model_changed'
    | 'internal_error'
  >,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'job.failed', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await endJob(trx, job, { ...waived, status: 'failed', result: null, error_code: errorCode });
    return 'done';
  });
}
