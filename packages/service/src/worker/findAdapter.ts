import { baseVersion } from '@engraft/contract';
import type { AdapterReference } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { findVersionOfSubject } from '../versions/findVersion.js';
import { lookAfter } from '../versions/lookAfter.js';

export interface UsableAdapter {
  /** `null`: the clean base model. */
  readonly adapter: AdapterReference | null;
  /** It was found damaged or missing before, and may have been made whole since. */
  readonly marked_damaged: boolean;
}

export type FoundAdapter =
  | ({ readonly kind: 'found' } & UsableAdapter)
  /** The version's retention ended after the job was admitted. */
  | { readonly kind: 'adapter_expired' };

/** The adapter of the version that admission resolved. Throws when there is no such version. */
export async function findAdapter(
  db: Kysely<Database>,
  store: AdapterStore,
  adapter_version: string,
): Promise<FoundAdapter> {
  if (adapter_version === baseVersion) return { kind: 'found', adapter: null, marked_damaged: false };
  const { adapter_hash, subject_ref, damaged_at } = await db
    .selectFrom('versions')
    .select(['adapter_hash', 'subject_ref', 'damaged_at'])
    .where('id', '=', adapter_version)
    .executeTakeFirstOrThrow();
  const version = await findVersionOfSubject(db, subject_ref, adapter_version);
  if (version === null) throw new Error(`version ${adapter_version} is not of its subject`);
  const { expired } = version.undecided ? await inTransaction(db, (trx) => lookAfter(trx, version)) : version;
  if (expired) return { kind: 'adapter_expired' };
  return { kind: 'found', adapter: store.locate(adapter_hash), marked_damaged: damaged_at !== null };
}
