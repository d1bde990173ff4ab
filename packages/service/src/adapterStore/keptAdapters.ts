import { sql, type Kysely, type Transaction } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from '../jobs/jobLease.js';

/**
 * Records that the job is about to keep this adapter in the store, so that its files are found and deleted should the
 * job never come to have a version. Waits for a deletion of the same adapter that is under way: what is kept after
 * this returns, stays for as long as the job is open.
 */
export async function recordKeptAdapter(
  db: Kysely<Database>,
  lease: JobLease,
  adapter_hash: string,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'adapter.recorded', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await lockAdapter(trx, adapter_hash);
    await trx
      .insertInto('kept_adapters')
      .values({ adapter_hash, job_id: job.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return 'done';
  });
}

/**
 * Records what a worker put into the store although its job had passed to another worker, and perhaps ended long ago,
 * meanwhile: a round of retention finds and deletes it, unless a version has come to need it. One that ended of late is
 * still recorded, see `deleteUnneededFiles`.
 */
export async function recordLeftAdapter(db: Kysely<Database>, job_id: string, adapter_hash: string): Promise<void> {
  await db
    .insertInto('kept_adapters')
    .values({ adapter_hash, job_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  crashPoint('adapter.left_recorded');
}

/**
 * Records that an import is about to keep these adapters, so that their files are found and deleted should it be killed
 * before its versions are there. `takeImportRecords` ends the record, or else a round of retention a day later, as when
 * the import is refused.
 */
export async function recordImport(db: Kysely<Database>, adapter_hashes: readonly string[]): Promise<void> {
  await inTransaction(db, 'import.recorded', async (trx) => {
    await deleteImportRecords(trx, adapter_hashes);
    const rows = adapter_hashes.map((adapter_hash) => ({ adapter_hash, job_id: null }));
    await trx.insertInto('kept_adapters').values(rows).execute();
  });
}

/**
 * For who holds `lockAdapter` on each of these adapters, records jobs that keep them in the same transaction, and has
 * called `recordImport` before. An import of the same adapters at the same time may have taken the record; that of its
 * job does as well, as the lock keeps that one from being ended.
 */
export async function takeImportRecords(trx: Transaction<Database>, adapter_hashes: readonly string[]): Promise<void> {
  const recorded = await trx
    .selectFrom('kept_adapters')
    .select('adapter_hash')
    .distinct()
    .where('adapter_hash', 'in', adapter_hashes)
    .execute();
  if (recorded.length !== adapter_hashes.length) throw new Error('adapters are imported that nobody has recorded');
  await deleteImportRecords(trx, adapter_hashes);
}

async function deleteImportRecords(trx: Transaction<Database>, adapter_hashes: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('kept_adapters')
    .where('adapter_hash', 'in', adapter_hashes)
    .where('job_id', 'is', null)
    .execute();
}

/** Until the transaction ends nobody else records or deletes this adapter. Order of locks: the job before this. */
export async function lockAdapter(trx: Transaction<Database>, adapter_hash: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${adapter_hash}, 0))`.execute(trx);
}

/** Until the transaction ends no backup begins; `false` while one is made, see `backup/makeBackup.ts`. */
export async function mayDeleteAdapters(trx: Transaction<Database>): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock_shared(${advisoryLocks.backup}) as free`.execute(trx);
  return rows[0]?.free === true;
}
