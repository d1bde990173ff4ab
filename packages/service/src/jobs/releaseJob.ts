import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease, LeasedWrite } from './jobLease.js';

/**
 * running → queued. A worker that shuts down hands its job back, and the next claim may take it at once. With `counts`
 * the claim still counts, since the job may be what its work was lost to.
 */
export async function releaseJob(
  db: Kysely<Database>,
  lease: JobLease,
  { counts = false }: { readonly counts?: boolean } = {},
): Promise<LeasedWrite> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set((eb) => ({
      status: 'queued',
      phase: 'queued',
      worker_id: null,
      lease_expires_at: null,
      // Handing a job back on purpose says nothing against the job. A claim that made progress does not count anyway.
      attempts: counts ? eb.ref('attempts') : eb.fn<number>('greatest', [eb('attempts', '-', 1), eb.val(0)]),
      updated_at: sql`now()`,
    }))
    .where('id', '=', lease.job_id)
    .where('fencing_token', '=', lease.fencing_token)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
  crashPoint('job.released');
  return numUpdatedRows === 1n ? 'done' : 'lost';
}
