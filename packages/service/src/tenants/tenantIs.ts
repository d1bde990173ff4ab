import type { TenantId } from '@engraft/contract';
import { sql, type RawBuilder, type SqlBool } from 'kysely';

/**
 * Rows of one tenant, or of the project namespace. Written out, because PostgreSQL does not use an index for `IS NOT
 * DISTINCT FROM`.
 */
export function tenantIs(column: string, tenantId: TenantId): RawBuilder<SqlBool> {
  return tenantId === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${tenantId}`;
}
