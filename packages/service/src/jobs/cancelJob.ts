import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { endJob, waived } from './endJob.js';
import { holdForReconciliation } from './requireReconciliation.js';
import { hasUnknownTeacherCall } from './teacherCalls.js';

export type CancelJobOutcome =
  | { readonly kind: 'cancelled'; readonly project_id: string; readonly was: 'queued' | 'running' }
  /** A remote teacher was asked, and its cost is not known yet. The job waits to be settled by hand. */
  | { readonly kind: 'to_be_resolved'; readonly project_id: string; readonly was: 'queued' | 'running' }
  | { readonly kind: 'not_found' }
  /** It has ended, or only its money is left to be settled. */
  | { readonly kind: 'wrong_status'; readonly status: string };

/**
 * queued or running → failed with `cancelled`. Nothing is charged, since it is our doing that the job does not finish.
 * The worker of a running job loses its lease, notices when it next extends it, and drops its work.
 */
export async function cancelJob(db: Kysely<Database>, jobId: string): Promise<CancelJobOutcome> {
  return inTransaction<CancelJobOutcome>(db, 'job.cancelled', async (trx) => {
    const job = await trx
      .selectFrom('jobs')
      .select(['id', 'project_id', 'request', 'status'])
      .where('id', '=', jobId)
      .modifyEnd(sql`for no key update`)
      .executeTakeFirst();
    if (job === undefined) return { kind: 'not_found' };
    const { project_id, status } = job;
    if (status !== 'queued' && status !== 'running') return { kind: 'wrong_status', status };
    if (await hasUnknownTeacherCall(trx, jobId)) {
      await holdForReconciliation(trx, job, 'receipt_missing');
      return { kind: 'to_be_resolved', project_id, was: status };
    }
    await endJob(trx, job, { ...waived, status: 'failed', result: null, error_code: 'cancelled', memo: 'cancelled' });
    return { kind: 'cancelled', project_id, was: status };
  });
}
