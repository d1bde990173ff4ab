import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/** No worker takes a longer lease. */
export const maxLeaseMs = 60_000;

/**
 * Shortens leases that end farther ahead than any can. A clock that has gone back since wrote them, and they would keep
 * a dead worker's job from others for as long as the clock jumped. Such leases end a minute from now; a live worker
 * extends its lease long before. Returns how many were shortened.
 */
export async function shortenLeases(db: Kysely<Database>): Promise<number> {
  const longest = sql<Date>`now() + ${maxLeaseMs} * interval '1 millisecond'`;
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ lease_expires_at: longest })
    .where('kind', 'in', ['inference', 'internalization'])
    .where('status', '=', 'running')
    .where('lease_expires_at', '>', longest)
    .executeTakeFirstOrThrow();
  crashPoint('leases.shortened');
  return Number(numUpdatedRows);
}
