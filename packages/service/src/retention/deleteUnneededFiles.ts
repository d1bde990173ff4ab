import { sql, type Kysely } from 'kysely';
import { lockAdapter, mayDeleteAdapters } from '../adapterStore/keptAdapters.js';
import type { AdapterStore } from '../adapterStore/adapterStore.js';
import { steady_time } from '../clock/observeClock.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { eachApart } from './eachApart.js';

/**
 * How long the files of an expired version stay: "its files are deleted 7 days later". The days count from when its
 * retention was found to have ended, where that is later than its deadline, and by `steady_time`: a clock that was
 * wrong for a moment, or a service that was stopped for weeks, deletes nothing at once. What was erased goes at once.
 */
const grace_days = 7;
/**
 * For so long after its job has ended, or its import has begun, a record stays, and its files are looked for again: a
 * worker that had lost the job may still be copying them into the store. Far longer than a copy takes.
 */
const late_copy_hours = 24;
const adapters_per_round = 200;

/**
 * Deletes the adapters that nobody needs any more: of versions that have expired ("its files are deleted 7 days later.
 * The row stays"), and of jobs that ended without one after they had kept it. Only what this database has recorded is
 * looked at: a folder of another installation's is none of its business. Returns how many adapters were deleted; files
 * that cannot be deleted are thrown at the end, after all the others had their turn.
 */
export async function deleteUnneededFiles(
  db: Kysely<Database>,
  store: AdapterStore,
  stopping?: AbortSignal,
): Promise<number> {
  const adapters = await unneededAdapters(db).distinct().limit(adapters_per_round).execute();
  const hashes = adapters.map(({ adapter_hash }) => adapter_hash);
  return eachApart(hashes, (adapter_hash) => deleteIfUnneeded(db, store, adapter_hash), stopping);
}

/** Equal adapters share their files: none of their jobs may be open, none of their versions retained. */
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
                  <= ${steady_time} - ${grace_days} * interval '24 hours') is not true`,
              ]),
            ),
        ),
      ),
    );
}

async function deleteIfUnneeded(db: Kysely<Database>, store: AdapterStore, adapter_hash: string): Promise<boolean> {
  return inTransaction<boolean>(db, 'adapter.deletion_recorded', async (trx) => {
    // A backup may be reading it: a later round deletes it.
    if (!(await mayDeleteAdapters(trx))) return false;
    await lockAdapter(trx, adapter_hash);
    // Looked at again under the lock: a job may be about to keep it now.
    const unneeded = await unneededAdapters(trx)
      .where('kept_adapters.adapter_hash', '=', adapter_hash)
      .executeTakeFirst();
    if (unneeded === undefined) return false;
    // A crash before the commit repeats this, and it then finds nothing to do.
    const was_there = await store.remove(adapter_hash);
    await trx
      .updateTable('versions')
      .set({ files_deleted_at: sql<Date>`now()` })
      .where('adapter_hash', '=', adapter_hash)
      .where('files_deleted_at', 'is', null)
      .execute();
    const long_ago = sql<Date>`now() - ${late_copy_hours} * interval '1 hour'`;
    const ended = trx.selectFrom('jobs').select('id').where('updated_at', '<=', long_ago);
    await trx
      .deleteFrom('kept_adapters')
      .where('adapter_hash', '=', adapter_hash)
      .where((eb) =>
        eb.or([eb('job_id', 'in', ended), eb.and([eb('job_id', 'is', null), eb('created_at', '<=', long_ago)])]),
      )
      .execute();
    return was_there;
  });
}
