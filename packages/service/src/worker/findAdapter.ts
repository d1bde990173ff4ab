import { baseVersion } from '@engraft/contract';
import type { AdapterReference } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { locateVersion } from '../versions/findVersion.js';
import { settleDeadline } from '../versions/settleDeadline.js';
import { learnModelOfAdapter } from './modelOfAdapter.js';

export interface UsableAdapter {
  /** `null` for the clean base model. */
  readonly adapter: AdapterReference | null;
  /** It was found damaged or missing before, and may have been repaired since. */
  readonly marked_damaged: boolean;
}

export type FoundAdapter =
  | ({ readonly kind: 'found' } & UsableAdapter)
  /** The version's retention ended after the job was admitted. */
  | { readonly kind: 'adapter_expired' }
  /** The version was trained on another checkpoint than the engine's, or nothing says on which. */
  | { readonly kind: 'base_model_changed' };

/**
 * Finds the adapter of the version that admission resolved. Throws if there is no such version.
 * @param base_model_hash of the engine's checkpoint
 */
export async function findAdapter(
  db: Kysely<Database>,
  store: AdapterStore,
  adapter_version: string,
  base_model_hash: () => Promise<string>,
): Promise<FoundAdapter> {
  if (adapter_version === baseVersion) return { kind: 'found', adapter: null, marked_damaged: false };
  const version = await locateVersion(db, adapter_version);
  const { expired } = version.undecided
    ? await inTransaction(db, 'version.deadline_settled', (trx) => settleDeadline(trx, version))
    : version;
  if (expired) return { kind: 'adapter_expired' };
  const adapter = store.locate(version.adapter_hash);
  const trained_on = version.base_model_hash ?? (await modelOf(db, adapter));
  // Loading a damaged adapter reveals the damage.
  const is_usable = trained_on === 'damaged' || trained_on === (await base_model_hash());
  return is_usable
    ? { kind: 'found', adapter, marked_damaged: version.marked_damaged }
    : { kind: 'base_model_changed' };
}

/** Finds the model of a version that has none recorded: its adapter was not whole before, or another tool made it. */
async function modelOf(db: Kysely<Database>, adapter: AdapterReference): Promise<string> {
  const trained_on = await learnModelOfAdapter(db, adapter);
  return trained_on.kind === 'known' ? trained_on.contentHash : trained_on.kind;
}
