import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';

export type ExpireVersionOutcome =
  | {
      readonly kind: 'expired';
      readonly project_id: string;
      readonly expires_at: Date;
      /** False for a version that an operator had expired before. */
      readonly changed: boolean;
    }
  | { readonly kind: 'not_found' };

/** Ends a version's retention now and for good. A version that has already expired keeps its deadline. */
export async function expireVersion(db: Kysely<Database>, versionId: string): Promise<ExpireVersionOutcome> {
  const expired = await db
    .updateTable('versions')
    .set({
      expires_at: sql<Date>`least(expires_at, now())`,
      retention_ended_at: sql<Date>`coalesce(retention_ended_at, now())`,
      retention_ended_by: 'operator',
    })
    .where('id', '=', versionId)
    .where('retention_ended_by', 'is distinct from', 'operator')
    .returning('id')
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'version.expired');
  const row = await db
    .selectFrom('versions')
    .innerJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .select(['subjects.project_id', 'versions.expires_at'])
    .where('versions.id', '=', versionId)
    .executeTakeFirst();
  return row === undefined ? { kind: 'not_found' } : { kind: 'expired', ...row, changed: expired !== undefined };
}
