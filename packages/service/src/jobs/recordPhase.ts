import type { JobPhase } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease, LeasedWrite } from './jobLease.js';

/** Records what the job is doing now, for its readers: "diagnostic execution phase; not a percentage". */
export async function recordPhase(db: Kysely<Database>, lease: JobLease, phase: JobPhase): Promise<LeasedWrite> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ phase, updated_at: sql`now()` })
    .where('id', '=', lease.job_id)
    .where('fencing_token', '=', lease.fencing_token)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
  crashPoint('phase.entered');
  return numUpdatedRows === 1n ? 'done' : 'lost';
}
