import type { TenantId } from '@engraft/contract';
import { sql, type RawBuilder, type SqlBool } from 'kysely';

/**
 * Rows of one tenant, or of the project namespace. Written out, because PostgreSQL does not use an index for `IS NOT
 * DISTINCT FROM`.
 */
export function tenantIs(column: string, tenant_id: TenantId): RawBuilder<SqlBool> {
  return tenant_id === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${tenant_id}`;
}
