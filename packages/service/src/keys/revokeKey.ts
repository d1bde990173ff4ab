import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { apiKeyColumns, toApiKey, type ApiKey } from './apiKey.js';

export type RevokeKeyOutcome = { readonly kind: 'revoked'; readonly key: ApiKey } | { readonly kind: 'not_found' };

/**
 * "Revoking a key blocks later authenticated requests; already admitted jobs and their charges are unaffected."
 * Revoking again changes nothing and keeps the first time. With `project_id`, a key of another project is not found.
 */
export async function revokeKey(
  db: Kysely<Database>,
  keyId: string,
  { project_id }: { readonly project_id?: string } = {},
): Promise<RevokeKeyOutcome> {
  const row = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql`coalesce(revoked_at, now())` })
    .where('id', '=', keyId)
    .$if(project_id !== undefined, (query) => query.where('project_id', '=', project_id ?? ''))
    .returning(apiKeyColumns)
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'key.revoked');
  return row === undefined ? { kind: 'not_found' } : { kind: 'revoked', key: toApiKey(row) };
}
