import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { newId } from '../ids.js';
import { keySecretHash, newKeySecret } from '../keys/keySecret.js';

export const console_key_name = 'engraft console';

/** A job belongs to a key. Those of the console belong to one that opens nothing: revoked from the first, its secret unknown. */
export async function findOrMakeConsoleKey(trx: Transaction<Database>, project_id: string): Promise<string> {
  const found = await trx
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', project_id)
    .where('name', '=', console_key_name)
    .where('revoked_at', 'is not', null)
    .executeTakeFirst();
  if (found !== undefined) return found.id;
  const secret_sha256 = keySecretHash(newKeySecret());
  if (secret_sha256 === null) throw new Error('a new key secret is malformed');
  const id = newId('key');
  await trx
    .insertInto('api_keys')
    .values({
      id,
      project_id,
      name: console_key_name,
      secret_sha256,
      scopes: ['inference', 'internalize'],
      tenant_id: null,
      revoked_at: sql<Date>`now()`,
    })
    .execute();
  return id;
}
