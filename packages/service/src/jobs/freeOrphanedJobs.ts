import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/**
 * Ends every lease, so that a restarted service goes on at once instead of waiting for them to run out. Only for the
 * one service of a data folder, before it has a worker, since any holder of a lease is then dead. Returns how many jobs
 * were freed.
 */
export async function freeOrphanedJobs(db: Kysely<Database>): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ lease_expires_at: sql<Date>`now()` })
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow();
  crashPoint('leases.ended');
  return Number(numUpdatedRows);
}
