import { sql, type Kysely } from 'kysely';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import type { Database } from '../db/schema.js';

/** How long the files of an expired version stay, in case the operator wants it back. */
const grace_days = 7;
const versions_per_round = 200;

/** "Its files are deleted 7 days later. The row stays." Returns how many versions lost their files. */
export async function deleteExpiredFiles(db: Kysely<Database>, store: AdapterStore): Promise<number> {
  const expired = await db
    .selectFrom('versions')
    .select(['id', 'adapter_hash'])
    .where('files_deleted_at', 'is', null)
    .where('expires_at', '<=', sql<Date>`now() - ${grace_days} * interval '1 day'`)
    // Equal adapters share their files.
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('versions as other')
            .select('other.id')
            .whereRef('other.adapter_hash', '=', 'versions.adapter_hash')
            .where('other.expires_at', '>', sql<Date>`now() - ${grace_days} * interval '1 day'`),
        ),
      ),
    )
    .limit(versions_per_round)
    .execute();
  for (const { id, adapter_hash } of expired) {
    // A crash between the two repeats the first, which then finds nothing to do.
    await store.remove(adapter_hash);
    await db
      .updateTable('versions')
      .set({ files_deleted_at: sql`now()` })
      .where('id', '=', id)
      .execute();
  }
  return expired.length;
}
