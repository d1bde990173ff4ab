import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease, LeasedWrite } from './jobLease.js';

/** The worker's heartbeat: the job stays with it for another `leaseMs` from now. */
export async function extendLease(db: Kysely<Database>, lease: JobLease, leaseMs: number): Promise<LeasedWrite> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ lease_expires_at: sql<Date>`now() + ${leaseMs} * interval '1 millisecond'` })
    .where('id', '=', lease.job_id)
    .where('fencing_token', '=', lease.fencing_token)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
  crashPoint('lease.extended');
  return numUpdatedRows === 1n ? 'done' : 'lost';
}
