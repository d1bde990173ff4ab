import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

export type ExpireVersionOutcome =
  { readonly kind: 'expired'; readonly expires_at: Date } | { readonly kind: 'not_found' };

/** Ends a version's retention now and for good; one that has expired already keeps its deadline. */
export async function expireVersion(db: Kysely<Database>, version_id: string): Promise<ExpireVersionOutcome> {
  const row = await db
    .updateTable('versions')
    .set({
      expires_at: sql<Date>`least(expires_at, now())`,
      retention_ended_at: sql<Date>`coalesce(retention_ended_at, now())`,
      retention_ended_by: 'operator',
    })
    .where('id', '=', version_id)
    .returning('expires_at')
    .executeTakeFirst();
  crashPoint('version.expired');
  return row === undefined ? { kind: 'not_found' } : { kind: 'expired', expires_at: row.expires_at };
}
