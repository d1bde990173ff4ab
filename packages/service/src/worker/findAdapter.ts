import { baseVersion } from '@engraft/contract';
import type { AdapterReference } from '@engraft/engine';
import type { Kysely } from 'kysely';
import type { AdapterStore, BorrowedAdapter } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { locateVersion } from '../versions/findVersion.js';
import { settleDeadline } from '../versions/settleDeadline.js';
import { learnModelOfAdapter } from './modelOfAdapter.js';

export interface UsableAdapter {
  /** `null` for the clean base model. */
  readonly adapter: AdapterReference | null;
  /** To be called when nobody needs its files any more. */
  readonly giveBack: () => void;
  /** It was found damaged or missing before, and may have been made whole since. */
  readonly marked_damaged: boolean;
}

export type FoundAdapter =
  | ({ readonly kind: 'found' } & UsableAdapter)
  /** The version's retention ended after the job was admitted. */
  | { readonly kind: 'adapter_expired' }
  /** The version was trained on another checkpoint than the engine's, or nothing says on which. */
  | { readonly kind: 'base_model_changed' };

/**
 * Borrows the adapter of the version that admission resolved. Throws when there is no such version, and
 * `AdapterStoreUnavailable`.
 * @param baseModelHash of the checkpoint that the engine has.
 */
export async function findAdapter(
  db: Kysely<Database>,
  store: AdapterStore,
  adapterVersion: string,
  baseModelHash: () => Promise<string>,
  signal?: AbortSignal,
): Promise<FoundAdapter> {
  if (adapterVersion === baseVersion) return { kind: 'found', ...cleanBase };
  const version = await locateVersion(db, adapterVersion);
  const { expired } = version.undecided
    ? await inTransaction(db, 'version.deadline_settled', (trx) => settleDeadline(trx, version))
    : version;
  if (expired) return { kind: 'adapter_expired' };
  const loaded = await baseModelHash();
  if (version.base_model_hash !== null && version.base_model_hash !== loaded) return { kind: 'base_model_changed' };
  const borrowed = await store.borrow(version.adapter_hash, signal);
  // Loading a damaged adapter reveals the damage.
  const isUsable = version.base_model_hash !== null || [loaded, 'damaged'].includes(await modelOf(db, borrowed));
  if (isUsable) return { kind: 'found', ...borrowed, marked_damaged: version.marked_damaged };
  borrowed.giveBack();
  return { kind: 'base_model_changed' };
}

/** The start of learning without a parent. */
export const cleanBase = { adapter: null, giveBack: () => undefined, marked_damaged: false } as const;

/** Finds the model of a version that has none recorded: its adapter was not whole before, or another tool made it. */
async function modelOf(db: Kysely<Database>, { adapter, giveBack }: BorrowedAdapter): Promise<string> {
  try {
    const trainedOn = await learnModelOfAdapter(db, adapter);
    return trainedOn.kind === 'known' ? trainedOn.contentHash : trainedOn.kind;
  } catch (error) {
    giveBack();
    throw error;
  }
}
