import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

export interface KeysOfTenant {
  readonly project_id: string;
  readonly tenant_id: string;
}

/** Revokes the keys that are restricted to a tenant, and gives them another name and tenant. Returns how many. */
export async function eraseKeysOfTenant(
  trx: Transaction<Database>,
  { project_id, tenant_id }: KeysOfTenant,
  name: string,
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('api_keys')
    .set({ name, tenant_id: name, revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
