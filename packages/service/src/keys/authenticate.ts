import type { Scope, TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import { parseScopes } from './apiKey.js';
import { keySecretHash } from './keySecret.js';

/** Who makes a request: "a key belongs to exactly one project" and may be restricted to one tenant. */
export interface AuthenticatedKey {
  readonly id: string;
  readonly project_id: string;
  readonly scopes: readonly Scope[];
  readonly tenant_id: TenantId;
}

/** The key with this secret, or `null` if it is malformed, unknown, expired or revoked. */
export async function authenticate(db: Kysely<Database>, secret: string): Promise<AuthenticatedKey | null> {
  const secretSha256 = keySecretHash(secret);
  if (secretSha256 === null) return null;
  const row = await db
    .selectFrom('api_keys')
    .select(['id', 'project_id', 'scopes', 'tenant_id'])
    .select(isUseStale.as('use_is_stale'))
    .where('secret_sha256', '=', secretSha256)
    .where(isUsable)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.use_is_stale) await recordUse(db, row.id);
  return { id: row.id, project_id: row.project_id, scopes: parseScopes(row.scopes), tenant_id: row.tenant_id };
}

/** Neither revoked nor expired. */
export const isUsable = sql<boolean>`revoked_at is null and (expires_at is null or expires_at > now())`;

export async function isKeyUsable(db: Kysely<Database>, keyId: string): Promise<boolean> {
  const row = await db.selectFrom('api_keys').select('id').where('id', '=', keyId).where(isUsable).executeTakeFirst();
  return row !== undefined;
}

/** `last_used_at` is for people. A minute is exact enough, and saves a write on nearly every request. */
const isUseStale = sql<boolean>`last_used_at is null or last_used_at < now() - interval '1 minute'`;

async function recordUse(db: Kysely<Database>, keyId: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', keyId)
    .where(isUseStale)
    .execute();
  crashPoint('key.use_recorded');
}
