import { sql, type Kysely } from 'kysely';
import { lockAdapter, mayDeleteAdapters } from '../adapterStore/keptAdapters.js';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { steadyTime } from '../clock/observeClock.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { forEachIndependently } from './independently.js';

/**
 * How long the files of an expired version stay: "its files are deleted 7 days later". The days count from the
 * deadline, or from when its retention was found to have ended if that is later, and by `steady_time`. So a clock that
 * was wrong for a moment, or a service that was stopped for weeks, deletes nothing at once. Erased versions lose their
 * files at once.
 */
const graceDays = 7;
/**
 * How long a record stays after its job has ended, or its import has begun, while its files are looked for again. A
 * worker that had lost the job may still be copying them into the store. This is far longer than a copy takes.
 */
const lateCopyHours = 24;
const adaptersPerRound = 200;

/**
 * Deletes the adapters that nobody needs any more: those of expired versions ("its files are deleted 7 days later. The
 * row stays"), and those of jobs that kept one and ended without a version. It looks only at adapters that this
 * database has recorded, and leaves folders of other installations alone. Returns how many adapters were deleted. Files
 * that cannot be deleted are reported by an error at the end, after all the others.
 */
export async function deleteUnneededFiles(
  db: Kysely<Database>,
  store: AdapterStore,
  stopping?: AbortSignal,
): Promise<number> {
  const adapters = await unneededAdapters(db).distinct().limit(adaptersPerRound).execute();
  const hashes = adapters.map(({ adapter_hash }) => adapter_hash);
  return forEachIndependently(hashes, (adapterHash) => deleteIfUnneeded(db, store, adapterHash), stopping);
}

/** Equal adapters share their files. None of their jobs may be open, and none of their versions retained. */
function unneededAdapters(db: Kysely<Database>) {
  return db
    .selectFrom('kept_adapters')
    .select('kept_adapters.adapter_hash')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('kept_adapters as keeper')
            .innerJoin('jobs', 'jobs.id', 'keeper.job_id')
            .select('jobs.id')
            .whereRef('keeper.adapter_hash', '=', 'kept_adapters.adapter_hash')
            .where('jobs.settled', '=', false),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('versions')
            .select('versions.id')
            .whereRef('versions.adapter_hash', '=', 'kept_adapters.adapter_hash')
            .where('versions.erased_at', 'is', null)
            .where((version) =>
              version.or([
                version('versions.retention_ended_at', 'is', null),
                sql<boolean>`(greatest(versions.expires_at, versions.retention_ended_at)
                  <= ${steadyTime} - ${graceDays} * interval '24 hours') is not true`,
              ]),
            ),
        ),
      ),
    );
}

async function deleteIfUnneeded(db: Kysely<Database>, store: AdapterStore, adapterHash: string): Promise<boolean> {
  return inTransaction<boolean>(db, 'adapter.deletion_recorded', async (trx) => {
    // A backup may be reading it. A later round deletes it.
    if (!(await mayDeleteAdapters(trx))) return false;
    await lockAdapter(trx, adapterHash);
    // Looks again under the lock, since a job may be about to keep it now.
    const unneeded = await unneededAdapters(trx)
      .where('kept_adapters.adapter_hash', '=', adapterHash)
      .executeTakeFirst();
    if (unneeded === undefined) return false;
    // A crash before the commit repeats this, and then finds nothing to do.
    const wasThere = await store.remove(adapterHash);
    await trx
      .updateTable('versions')
      .set({ files_deleted_at: sql<Date>`now()` })
      .where('adapter_hash', '=', adapterHash)
      .where('files_deleted_at', 'is', null)
      .execute();
    const longAgo = sql<Date>`now() - ${lateCopyHours} * interval '1 hour'`;
    const ended = trx.selectFrom('jobs').select('id').where('updated_at', '<=', longAgo);
    await trx
      .deleteFrom('kept_adapters')
      .where('adapter_hash', '=', adapterHash)
      .where((eb) =>
        eb.or([eb('job_id', 'in', ended), eb.and([eb('job_id', 'is', null), eb('created_at', '<=', longAgo)])]),
      )
      .execute();
    return wasThere;
  });
}
