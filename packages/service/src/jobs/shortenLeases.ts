import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/** No worker takes a lease for longer. */
export const lease_ms_max = 60_000;

/**
 * A lease that ends farther ahead than any can was written by a clock that has gone back since; it would keep a dead
 * worker's job from the others for as long as the clock jumped. Such leases end a minute from now: whoever lives
 * extends theirs long before. Returns how many were shortened.
 */
export async function shortenLeases(db: Kysely<Database>): Promise<number> {
  const longest = sql<Date>`now() + ${lease_ms_max} * interval '1 millisecond'`;
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
