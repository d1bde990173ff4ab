import type { TenantId } from '@engraft/contract';

export interface TenantClaims {
  /** The tenant that the key is restricted to, or `null`. */
  readonly keyTenantId: TenantId;
  readonly header: string | undefined;
  readonly body: string | undefined;
}

export type ResolveTenantOutcome =
  | { readonly kind: 'resolved'; readonly tenant_id: TenantId }
  /** Body and header name different tenants. */
  | { readonly kind: 'disagreement' }
  /** The key is restricted to another tenant. */
  | { readonly kind: 'foreign_tenant' };

/**
 * "A tenant may be supplied as body field and/or header. When both are present they must match. A tenant-restricted
 * key supplies its own tenant when none is given, and rejects a different tenant. An unrestricted key with no tenant
 * uses the project namespace."
 */
export function resolveTenant({ keyTenantId, header, body }: TenantClaims): ResolveTenantOutcome {
  if (header !== undefined && body !== undefined && header !== body) return { kind: 'disagreement' };
  const named = body ?? header;
  if (named === undefined) return { kind: 'resolved', tenant_id: keyTenantId };
  if (keyTenantId !== null && keyTenantId !== named) return { kind: 'foreign_tenant' };
  return { kind: 'resolved', tenant_id: named };
}
