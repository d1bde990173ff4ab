import { baseVersion } from '@engraft/contract';
import type { AdapterReference } from '@engraft/engine';
import { sql, type Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';

export type FoundAdapter =
  /** `null`: the clean base model. */
  | { readonly kind: 'found'; readonly adapter: AdapterReference | null }
  /** The version's retention ended after the job was admitted. */
  | { readonly kind: 'adapter_expired' };

/** The adapter of the version that admission resolved. Throws when there is no such version. */
export async function findAdapter(
  db: Kysely<Database>,
  store: AdapterStore,
  adapter_version: string,
): Promise<FoundAdapter> {
  if (adapter_version === baseVersion) return { kind: 'found', adapter: null };
  const version = await db
    .selectFrom('versions')
    .select(['adapter_hash', sql<boolean>`expires_at <= now()`.as('expired')])
    .where('id', '=', adapter_version)
    .executeTakeFirstOrThrow();
  if (version.expired) return { kind: 'adapter_expired' };
  return { kind: 'found', adapter: store.locate(version.adapter_hash) };
}
