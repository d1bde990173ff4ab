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
const adaptersPerQuery = 200;

/**
 * Deletes the adapters that nobody needs any more: those of erased and of expired versions ("its files are deleted 7
 * days later. The row stays"), and those of jobs that kept one and ended without a version. It looks only at adapters
 * that this database has recorded, and leaves folders of other installations alone. Returns how many adapters were
 * deleted. Files that cannot be deleted are reported by an error at the end, after all the others.
 */
export async function deleteUnneededFiles(
  db: Kysely<Database>,
  store: AdapterStore,
  stopping?: AbortSignal,
): Promise<number> {
  return forEachIndependently(inTurn(db), (adapterHash) => deleteIfUnneeded(db, store, adapterHash), stopping);
}

const endedLongAgo = sql<boolean>`coalesce(greatest(versions.expires_at, versions.retention_ended_at)
  <= ${steadyTime} - ${graceDays} * interval '24 hours', false)`;

type Adapters = RawBuilder<{ adapter_hash: string }>;

/** Indexes know these. Nothing here reads the retained versions. */
const ofErased: Adapters = sql`(
  select distinct adapter_hash from versions where erased_at is not null and files_deleted_at is null)`;
const ofExpired: Adapters = sql`(
  select distinct adapter_hash from versions
    where retention_ended_at is not null and files_deleted_at is null and ${endedLongAgo})`;
const recorded: Adapters = sql`(select distinct adapter_hash from kept_adapters)`;

/**
 * The hashes of all adapters of versions that still have files, erased ones first, and then of some that are only
 * recorded. These may have no files: their records stay for a day, so there may be many, and another round has others.
 */
async function* inTurn(db: Kysely<Database>): AsyncGenerator<string> {
  for (const adapters of [ofErased, ofExpired]) yield* all(db, adapters);
  const some = await unneededAdapters(db, recorded)
    .orderBy(sql`random()`)
    .limit(adaptersPerQuery)
    .execute();
  for (const { adapter_hash } of some) yield adapter_hash;
}

async function* all(db: Kysely<Database>, adapters: Adapters): AsyncGenerator<string> {
  const query = unneededAdapters(db, adapters).orderBy('adapter_hash').limit(adaptersPerQuery);
  let found = await query.execute();
  while (found.length > 0) {
    for (const { adapter_hash } of found) yield adapter_hash;
    const last = found.at(-1)?.adapter_hash ?? '';
    found = await query.where('adapters.adapter_hash', '>', last).execute();
  }
}

/** Equal adapters share their files. None of their jobs may be open, and none of their versions retained. */
function unneededAdapters(db: Kysely<Database>, adapters: Adapters) {
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
