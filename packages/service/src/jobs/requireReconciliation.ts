import type { JobErrorCode } from '@engraft/contract';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { closedJob } from './closedJob.js';
import { lockLeasedJob, type JobLease, type LeasedJob, type LeasedWrite } from './jobLease.js';
import { sumTeacherReceipts } from './teacherCalls.js';

type ReceiptErrorCode = Extract<JobErrorCode, 'receipt_missing' | 'receipt_inconsistent'>;

/** running → reconciliation_required. */
export async function requireReconciliation(
  db: Kysely<Database>,
  lease: JobLease,
  errorCode: ReceiptErrorCode,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'reconciliation.required', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await holdForReconciliation(trx, job, errorCode);
    return 'done';
  });
}

/**
 * For a job that this transaction holds. Somebody else's work was used, and its cost is not known. The reservation
 * stays until an operator settles the job. Its usage is that of the finished phases, or the sum of the teacher's
 * receipts where that is more: those of the phase under way are in no phase yet. Texts are removed as when a job ends,
 * since nobody goes on with it.
 */
export async function holdForReconciliation(
  trx: Transaction<Database>,
  job: Pick<LeasedJob, 'id' | 'request'>,
  errorCode: ReceiptErrorCode,
): Promise<void> {
  const receipts = await sumTeacherReceipts(trx, job.id);
  const closed = await closedJob(trx, job);
  await trx
    .updateTable('jobs')
    .set((eb) => ({
      status: 'reconciliation_required',
      error_code: errorCode,
      input_tokens: eb.fn<number>('greatest', ['input_tokens', eb.val(receipts.input_tokens)]),
      output_tokens: eb.fn<number>('greatest', ['output_tokens', eb.val(receipts.output_tokens)]),
      cached_input_tokens: eb.fn<number>('greatest', ['cached_input_tokens', eb.val(receipts.cached_input_tokens)]),
      ...closed,
    }))
    .where('id', '=', job.id)
    .execute();
}
