import type { TokenUsage } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from './jobLease.js';

/** Loads the outcome of a phase of a learning job. `null` if it has not finished. */
export async function loadPhaseOutcome(db: Kysely<Database>, jobId: string, phase: string): Promise<unknown> {
  const row = await db
    .selectFrom('job_phases')
    .select('outcome')
    .where('job_id', '=', jobId)
    .where('phase', '=', phase)
    .executeTakeFirst();
  return row?.outcome ?? null;
}

export interface PhaseOutcome {
  readonly phase: string;
  /** JSON. */
  readonly outcome: unknown;
  /** Usage of this phase alone. It is added to what the job shows. */
  readonly usage: TokenUsage;
}

/**
 * Keeps a finished phase, so that the job resumes after it and its tokens are counted once. The job has made progress,
 * unless the phase was finished before: then lost work was repeated, the outcome is replaced, and `usage` is zero.
 */
export async function storePhaseOutcome(
  db: Kysely<Database>,
  lease: JobLease,
  { phase, outcome, usage }: PhaseOutcome,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'phase.stored', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    const stored = JSON.stringify(outcome);
    const replaced = await trx
      .updateTable('job_phases')
      .set({ outcome: stored })
      .where('job_id', '=', job.id)
      .where('phase', '=', phase)
      .executeTakeFirstOrThrow();
    const isNew = replaced.numUpdatedRows === 0n;
    if (isNew) {
      await trx
        .insertInto('job_phases')
        .values({ job_id: job.id, phase, outcome: stored, ...usage })
        .execute();
    }
    await trx
      .updateTable('jobs')
      .set((eb) => ({
        input_tokens: eb('input_tokens', '+', usage.input_tokens),
        output_tokens: eb('output_tokens', '+', usage.output_tokens),
        cached_input_tokens: eb('cached_input_tokens', '+', usage.cached_input_tokens),
        training_tokens: eb('training_tokens', '+', usage.training_tokens),
        training_progress: null,
        attempts: isNew ? 0 : eb.ref('attempts'),
        updated_at: sql`now()`,
      }))
      .where('id', '=', job.id)
      .execute();
    return 'done';
  });
}
