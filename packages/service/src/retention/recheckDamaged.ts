import type { Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { unmarkIfIntact } from '../versions/adapterDamage.js';
import { forEachIndependently } from './independently.js';

/**
 * Unmarks versions whose adapter is whole again, restored from a backup or with its file system, before hosting is
 * renewed, so that nobody need ask for them first. Returns how many adapters there were.
 */
export async function recheckDamaged(
  db: Kysely<Database>,
  store: AdapterStore,
  stopping?: AbortSignal,
): Promise<number> {
  const damaged = await db
    .selectFrom('versions')
    .select('adapter_hash')
    .distinct()
    .where('damaged_at', 'is not', null)
    .where('retention_ended_at', 'is', null)
    .where('files_deleted_at', 'is', null)
    .execute();
  const recheck = (adapterHash: string): Promise<boolean> =>
    unmarkIfIntact(db, store, adapterHash, stopping).catch((error: unknown) => {
      // The next start looks again.
      if (stopping?.aborted === true) return false;
      throw error;
    });
  return forEachIndependently(
    damaged.map(({ adapter_hash }) => adapter_hash),
    recheck,
    stopping,
  );
}
