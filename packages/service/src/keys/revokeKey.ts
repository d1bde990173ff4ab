import { sql, type ExpressionBuilder, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { isId } from '../ids.js';
import { apiKeyColumns, toApiKey, type ApiKey } from './apiKey.js';

export type RevokeKeyOutcome =
  /** `changed` is false for a key that was revoked before. */
  { readonly kind: 'revoked'; readonly key: ApiKey; readonly changed: boolean } | { readonly kind: 'not_found' };

/**
 * "Revoking a key blocks later authenticated requests; already admitted jobs and their charges are unaffected."
 * Revoking again changes nothing and keeps the first time. With `project_id`, a key of another project is not found.
 */
export async function revokeKey(
  db: Kysely<Database>,
  keyId: string,
  { project_id }: { readonly project_id?: string } = {},
): Promise<RevokeKeyOutcome> {
  if (!isId('key', keyId)) return { kind: 'not_found' };
  const isNamed = (eb: ExpressionBuilder<Database, 'api_keys'>) =>
    eb.and([eb('id', '=', keyId), ...(project_id === undefined ? [] : [eb('project_id', '=', project_id)])]);
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Date>`now()` })
    .where(isNamed)
    .where('revoked_at', 'is', null)
    .returning(apiKeyColumns)
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'key.revoked');
  const row = revoked ?? (await db.selectFrom('api_keys').select(apiKeyColumns).where(isNamed).executeTakeFirst());
  if (row === undefined) return { kind: 'not_found' };
  return { kind: 'revoked', key: toApiKey(row), changed: revoked !== undefined };
}
