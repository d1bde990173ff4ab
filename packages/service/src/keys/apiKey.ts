import { scope, type Scope, type TenantId } from '@engraft/contract';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { ApiKeysTable } from '../db/schema.js';

/** A key as its owner may see it, without the secret, which nobody has. */
export interface ApiKey {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The one tenant that the key is restricted to, or `null`. */
  readonly tenant_id: TenantId;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly last_used_at: Date | null;
}

export const apiKeyColumns = [
  'id',
  'project_id',
  'name',
  'scopes',
  'tenant_id',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
] as const satisfies readonly (keyof ApiKeysTable)[];

export function toApiKey(row: Pick<Selectable<ApiKeysTable>, (typeof apiKeyColumns)[number]>): ApiKey {
  return { ...row, scopes: parseScopes(row.scopes) };
}

export function parseScopes(stored: readonly string[]): readonly Scope[] {
  return z.array(scope).parse(stored);
}
