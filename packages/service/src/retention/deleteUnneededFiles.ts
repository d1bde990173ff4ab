import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
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
  const adapters = await unneededAdapters(db, candidates).orderBy(inTurn).limit(adaptersPerRound).execute();
  const hashes = adapters.map(({ adapter_hash }) => adapter_hash);
  return forEachIndependently(hashes, (adapterHash) => deleteIfUnneeded(db, store, adapterHash), stopping);
}

const endedLongAgo = sql<boolean>`coalesce(greatest(versions.expires_at, versions.retention_ended_at)
  <= ${steadyTime} - ${graceDays} * interval '24 hours', false)`;

/**
 * The adapters to look at: those of versions that need their files no longer, which indexes know, and those without a
 * version, which are few. Nothing here reads the retained versions.
 */
const candidates = sql<{ adapter_hash: string }>`(
  select adapter_hash from versions
    where retention_ended_at is not null and files_deleted_at is null and ${endedLongAgo}
  union
  select adapter_hash from versions where erased_at is not null and files_deleted_at is null
  union
  select adapter_hash from kept_adapters)`;

/**
 * First the adapters of versions that still have files. The others may have none: their records stay for a day, and
 * more of these than a round looks at must keep nothing from being deleted. Nor may files that cannot be deleted.
 */
const inTurn = sql`exists (
  select from versions where versions.adapter_hash = adapters.adapter_hash and versions.files_deleted_at is null
) desc, random()`;

/** Equal adapters share their files. None of their jobs may be open, and none of their versions retained. */
function unneededAdapters(db: Kysely<Database>, adapters: RawBuilder<{ adapter_hash: string }>) {
  return db
    .selectFrom(adapters.as('adapters'))
    .select('adapters.adapter_hash')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('kept_adapters as keeper')
            .innerJoin('jobs', 'jobs.id', 'keeper.job_id')
            .select('jobs.id')
            .whereRef('keeper.adapter_hash', '=', 'adapters.adapter_hash')
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
            .whereRef('versions.adapter_hash', '=', 'adapters.adapter_hash')
            .where('versions.erased_at', 'is', null)
            .where((version) =>
              version.or([version('versions.retention_ended_at', 'is', null), version.not(endedLongAgo)]),
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
    const unneeded = await unneededAdapters(trx, sql`(select ${adapterHash} as adapter_hash)`).executeTakeFirst();
    if (unneeded === undefined) return false;
    // A crash before the commit repeats this, and then finds nothing to do.
    const wasThere = await store.remove(adapterHash);
    const longAgo = sql<Date>`now() - ${lateCopyHours} * interval '1 hour'`;
    await recordLateCopies(trx, adapterHash, longAgo);
    await trx
      .updateTable('versions')
      .set({ files_deleted_at: sql<Date>`now()` })
      .where('adapter_hash', '=', adapterHash)
      .where('files_deleted_at', 'is', null)
      .execute();
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

/**
 * Records an adapter whose version is erased soon after its job. Another worker that had the job may still be copying
 * the same adapter.
 */
async function recordLateCopies(
  trx: Transaction<Database>,
  adapterHash: string,
  longAgo: RawBuilder<Date>,
): Promise<void> {
  await trx
    .insertInto('kept_adapters')
    .columns(['adapter_hash', 'job_id'])
    .expression(
      trx
        .selectFrom('versions')
        .innerJoin('jobs', 'jobs.id', 'versions.source_job_id')
        .select(['versions.adapter_hash', 'jobs.id'])
        .where('versions.adapter_hash', '=', adapterHash)
        .where('versions.files_deleted_at', 'is', null)
        .where('jobs.updated_at', '>', longAgo),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
