import type { Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';
import { forEachIndependently } from './independently.js';

/**
 * Deletes copies of adapters on this machine that nobody needs any more: another worker has deleted the adapter itself.
 * Returns how many there were.
 */
export async function dropCopies(db: Kysely<Database>, store: AdapterStore, stopping?: AbortSignal): Promise<number> {
  const copied = store.listCopies();
  if (copied.length === 0) return 0;
  const needed = await db
    .selectFrom('versions')
    .select('adapter_hash')
    .where('adapter_hash', 'in', copied)
    .where('files_deleted_at', 'is', null)
    // A job may be about to have a version.
    .union(
      db
        .selectFrom('kept_adapters')
        .innerJoin('jobs', 'jobs.id', 'kept_adapters.job_id')
        .select('adapter_hash')
        .where('adapter_hash', 'in', copied)
        .where('jobs.settled', '=', false),
    )
    .execute();
  const kept = new Set(needed.map(({ adapter_hash }) => adapter_hash));
  const unneeded = copied.filter((adapterHash) => !kept.has(adapterHash));
  return forEachIndependently(unneeded, (adapterHash) => store.dropCopy(adapterHash), stopping);
}
