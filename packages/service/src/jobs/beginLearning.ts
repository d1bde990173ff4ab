import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease } from './jobLease.js';

/**
 * - `begun`: on this checkpoint, now or by an earlier claim.
 * - `base_model_changed`: on another one, so what the job has stored would be mixed with answers of this one.
 * - `lost`: the lease has passed to another worker.
 */
export type BeginLearningOutcome = 'begun' | 'base_model_changed' | 'lost';

/** Records, once, the checkpoint on which a learning job begins. */
export async function beginLearning(
  db: Kysely<Database>,
  { job_id, fencing_token }: JobLease,
  baseModelHash: string,
): Promise<BeginLearningOutcome> {
  const row = await db
    .updateTable('jobs')
    .set({ base_model_hash: sql<string>`coalesce(base_model_hash, ${baseModelHash})` })
    .where('id', '=', job_id)
    .where('fencing_token', '=', fencing_token)
    .where('status', '=', 'running')
    .returning('base_model_hash')
    .executeTakeFirst();
  crashPoint('learning.begun');
  if (row === undefined) return 'lost';
  return row.base_model_hash === baseModelHash ? 'begun' : 'base_model_changed';
}
