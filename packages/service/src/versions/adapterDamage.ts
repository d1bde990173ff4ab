import { sql, type Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/**
 * Marks the versions of an adapter that was found damaged or missing. They are no longer renewed. Returns whether any
 * of them was not marked before.
 */
export async function markAdapterDamaged(db: Kysely<Database>, adapterHash: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('versions')
    .set({ damaged_at: sql<Date>`now()` })
    .where('adapter_hash', '=', adapterHash)
    .where('damaged_at', 'is', null)
    .executeTakeFirstOrThrow();
  crashPoint('adapter.marked_damaged');
  return numUpdatedRows > 0n;
}

/**
 * Unmarks the versions of an adapter if the store has it, and whole: a copy on this machine is of no use to others.
 * Returns whether it is.
 */
export async function unmarkIfIntact(
  db: Kysely<Database>,
  store: AdapterStore,
  adapterHash: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!(await store.has(adapterHash)) || !(await store.isIntact(adapterHash, signal))) return false;
  await markAdapterIntact(db, adapterHash);
  return true;
}

/** Unmarks the versions of an adapter that is whole: it was loaded, or kept anew. */
export async function markAdapterIntact(db: Kysely<Database>, adapterHash: string): Promise<void> {
  await db
    .updateTable('versions')
    .set({ damaged_at: null })
    .where('adapter_hash', '=', adapterHash)
    .where('damaged_at', 'is not', null)
    .execute();
  crashPoint('adapter.marked_intact');
}
