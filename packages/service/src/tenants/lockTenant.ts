import type { TenantId } from '@engraft/contract';
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

export interface TenantOfProject {
  readonly project_id: string;
  /** `null` is the project namespace, which is never erased. */
  readonly tenant_id: TenantId;
}

/**
 * Keeps the tenant from being erased until the transaction ends, and waits for an erasure under way. It comes first in
 * a transaction that adds something to a tenant.
 */
export async function holdTenant(trx: Transaction<Database>, tenant: TenantOfProject): Promise<void> {
  if (tenant.tenant_id === null) return;
  await sql`select pg_advisory_xact_lock_shared(${lockOf(tenant)})`.execute(trx);
}

/** Waits for whoever holds the tenant. Until the transaction ends, nothing is added to it. */
export async function lockTenant(trx: Transaction<Database>, tenant: TenantOfProject): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lockOf(tenant)})`.execute(trx);
}

/** Locks of other things may have the same number. Then one waits for the other, which does no harm. */
function lockOf({ project_id, tenant_id }: TenantOfProject): RawBuilder<number> {
  return sql<number>`hashtextextended(${`${project_id} ${tenant_id}`}, 0)`;
}
