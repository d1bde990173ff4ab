import { limits, type Scope, type TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { newId } from '../ids.js';
import { apiKeyColumns, toApiKey, type ApiKey } from './apiKey.js';
import { keySecretHash, newKeySecret } from './keySecret.js';

export interface NewKey {
  readonly project_id: string;
  readonly name: string;
  /** At least one. */
  readonly scopes: readonly Scope[];
  readonly tenant_id: TenantId;
  /** `null` for never. */
  readonly expires_at: Date | null;
}

export type CreateKeyOutcome =
  /** The secret is seen only here. */
  | { readonly kind: 'created'; readonly key: ApiKey; readonly secret: string }
  | { readonly kind: 'project_not_found' }
  | { readonly kind: 'too_many_keys' };

/** "At most 50 non-revoked keys exist per project (expired keys count until revoked)." */
export async function createKey(db: Kysely<Database>, key: NewKey, secret = newKeySecret()): Promise<CreateKeyOutcome> {
  return inTransaction<CreateKeyOutcome>(db, 'key.created', async (trx) => {
    // Locks the project, so that its keys are counted and created one at a time.
    const project = await trx
      .selectFrom('projects')
      .select('id')
      .where('id', '=', key.project_id)
      .modifyEnd(sql`for no key update`)
      .executeTakeFirst();
    if (project === undefined) return { kind: 'project_not_found' };
    const { count } = await trx
      .selectFrom('api_keys')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('project_id', '=', key.project_id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow();
    if (count >= limits.maxActiveKeysPerProject) return { kind: 'too_many_keys' };
    const secretSha256 = keySecretHash(secret);
    if (secretSha256 === null) throw new Error('a new key secret is malformed');
    const row = await trx
      .insertInto('api_keys')
      .values({
        id: newId('key'),
        project_id: key.project_id,
        name: key.name,
        secret_sha256: secretSha256,
        scopes: [...new Set(key.scopes)],
        tenant_id: key.tenant_id,
        expires_at: key.expires_at,
      })
      .returning(apiKeyColumns)
      .executeTakeFirstOrThrow();
    return { kind: 'created', key: toApiKey(row), secret };
  });
}
