import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';

export type ExpireVersionOutcome =
  { readonly kind: 'expired'; readonly project_id: string; readonly expires_at: Date } | { readonly kind: 'not_found' };

/** Ends a version's retention now and for good. A version that has already expired keeps its deadline. */
export async function expireVersion(db: Kysely<Database>, versionId: string): Promise<ExpireVersionOutcome> {
  const row = await db
    .updateTable('versions')
    .set({
      expires_at: sql<Date>`least(expires_at, now())`,
      retention_ended_at: sql<Date>`coalesce(retention_ended_at, now())`,
      retention_ended_by: 'operator',
    })
    .where('id', '=', versionId)
    .returning('expires_at')
    .returning((eb) =>
      eb.selectFrom('subjects').select('project_id').whereRef('subjects.id', '=', 'subject_ref').as('project_id'),
    )
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'version.expired');
  if (row === undefined) return { kind: 'not_found' };
  const { project_id, expires_at } = row;
  if (project_id === null) throw new Error(`version ${versionId} is of no subject`);
  return { kind: 'expired', project_id, expires_at };
}
