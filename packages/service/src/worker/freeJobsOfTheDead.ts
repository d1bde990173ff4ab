import { sql, type Kysely } from 'kysely';
import { isAlive } from '../db/embeddedPostgres/index.js';
import type { Database } from '../db/schema.js';
import { pidOfWorker } from './workerId.js';

/**
 * Ends the leases of workers whose process is gone, so that a restarted service goes on at once instead of waiting
 * for them to run out. Only where all workers are on this machine, and before this process has one of its own: its
 * process id may have been a dead worker's. Returns how many jobs were freed.
 */
export async function freeJobsOfTheDead(db: Kysely<Database>): Promise<number> {
  const rows = await db
    .selectFrom('jobs')
    .select('worker_id')
    .distinct()
    .where('status', '=', 'running')
    .where('worker_id', 'is not', null)
    .execute();
  const dead = rows
    .map(({ worker_id }) => worker_id ?? '')
    .filter((worker_id) => pidOfWorker(worker_id) === process.pid || !isAlive(pidOfWorker(worker_id)));
  if (dead.length === 0) return 0;
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ lease_expires_at: sql<Date>`now()` })
    .where('status', '=', 'running')
    .where('worker_id', 'in', dead)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
