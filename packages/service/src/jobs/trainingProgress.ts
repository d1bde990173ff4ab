import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease, LeasedWrite } from './jobLease.js';

/** How far the training under way has come, as last given to `storeTrainingProgress`. `null` if none is. */
export async function loadTrainingProgress(db: Kysely<Database>, jobId: string): Promise<unknown> {
  const row = await db.selectFrom('jobs').select('training_progress').where('id', '=', jobId).executeTakeFirst();
  return row?.training_progress ?? null;
}

export interface TrainingProgress {
  /** JSON. */
  readonly progress: unknown;
  /** Training steps so far. */
  readonly steps: number;
}

/**
 * Keeps how far a training has come, until its outcome is stored. Steps that no claim had reached before are progress.
 * Steps repeated because the stored progress could not be used are not, so that a job cannot begin anew for ever.
 */
export async function storeTrainingProgress(
  db: Kysely<Database>,
  lease: JobLease,
  { progress, steps }: TrainingProgress,
): Promise<LeasedWrite> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set((eb) => ({
      training_progress: JSON.stringify(progress),
      training_steps: eb.fn<number>('greatest', ['training_steps', eb.val(steps)]),
      attempts: eb.case().when('training_steps', '<', steps).then(0).else(eb.ref('attempts')).end(),
      updated_at: sql`now()`,
    }))
    .where('id', '=', lease.job_id)
    .where('fencing_token', '=', lease.fencing_token)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
  crashPoint('training.recorded');
  return numUpdatedRows === 1n ? 'done' : 'lost';
}
