import type { Scope } from '@engraft/contract';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { newId } from '../ids.js';
import { keySecretHash, newKeySecret } from './keySecret.js';

export interface OwnKey {
  readonly project_id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/**
 * The id of a key of our own, since every job belongs to a key. It opens nothing: it is revoked from the start, and its
 * secret is unknown.
 */
export async function findOrMakeOwnKey(
  trx: Transaction<Database>,
  { project_id, name, scopes }: OwnKey,
): Promise<string> {
  const found = await trx
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .where('revoked_at', 'is not', null)
    .executeTakeFirst();
  if (found !== undefined) return found.id;
  const secretSha256 = keySecretHash(newKeySecret());
  if (secretSha256 === null) throw new Error('a new key secret is malformed');
  const id = newId('key');
  await trx
    .insertInto('api_keys')
    .values({
      id,
      project_id,
      name,
      secret_sha256: secretSha256,
      scopes: [...scopes],
      tenant_id: null,
      revoked_at: sql<Date>`now()`,
    })
    .execute();
  return id;
}
