import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

/**
 * Removes what is left of the jobs' texts: their answers, what phases and teachers left behind, and their idempotency
 * keys, which "live as long as their jobs". Callers no longer find these jobs. Their costs stay.
 */
export async function forgetJobs(trx: Transaction<Database>, jobIds: readonly string[]): Promise<void> {
  if (jobIds.length === 0) return;
  const isOne = sql<boolean>`job_id = any(${jobIds})`;
  await trx.deleteFrom('idempotency_keys').where(isOne).execute();
  await trx.deleteFrom('job_phases').where(isOne).execute();
  // Stays until then, since an operator needs it to settle the job: how many calls have no receipt.
  const isSettled = sql<boolean>`(select settled from jobs where id = job_id)`;
  await trx.deleteFrom('teacher_calls').where(isOne).where(isSettled).execute();
  await trx.updateTable('teacher_calls').set({ answer: null }).where(isOne).execute();
  await trx
    .updateTable('jobs')
    .set({
      result: null,
      request: 'null',
      training_progress: null,
      learning_trace: null,
      forgotten_at: sql<Date>`now()`,
    })
    .where(sql<boolean>`id = any(${jobIds})`)
    .execute();
}
