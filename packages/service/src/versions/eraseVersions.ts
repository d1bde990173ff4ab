import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

/**
 * Ends the versions of erased subjects, and removes what taught them. Their files go in the next round of retention,
 * without the days that expired ones stay. Returns how many versions there were.
 */
export async function eraseVersionsOf(trx: Transaction<Database>, subjectRefs: readonly string[]): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('versions')
    .set({
      rehearsal: null,
      expires_at: sql<Date>`least(expires_at, now())`,
      retention_ended_at: sql<Date>`coalesce(retention_ended_at, now())`,
      retention_ended_by: 'operator',
      erased_at: sql<Date>`now()`,
    })
    .where(sql<boolean>`subject_ref = any(${subjectRefs})`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
