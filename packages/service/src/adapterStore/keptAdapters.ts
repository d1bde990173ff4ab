import { sql, type Kysely, type Transaction } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { lockLeasedJob, type JobLease, type LeasedWrite } from '../jobs/jobLease.js';

/**
 * Records that the job is about to keep this adapter in the store. If the job never gets a version, retention finds the
 * files and deletes them. Waits for a deletion of the same adapter that is under way. An adapter kept after this
 * returns stays as long as the job is open.
 */
export async function recordKeptAdapter(
  db: Kysely<Database>,
  lease: JobLease,
  adapterHash: string,
): Promise<LeasedWrite> {
  return inTransaction<LeasedWrite>(db, 'adapter.recorded', async (trx) => {
    const job = await lockLeasedJob(trx, lease);
    if (job === null) return 'lost';
    await lockAdapter(trx, adapterHash);
    await trx
      .insertInto('kept_adapters')
      .values({ adapter_hash: adapterHash, job_id: job.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return 'done';
  });
}

/**
 * Ends the job's record of an adapter that is now a version's, in the transaction that makes the version. So the
 * records stay few, however many adapters are kept.
 */
export async function endAdapterRecord(trx: Transaction<Database>, jobId: string, adapterHash: string): Promise<void> {
  await trx.deleteFrom('kept_adapters').where('adapter_hash', '=', adapterHash).where('job_id', '=', jobId).execute();
}

/**
 * Records an adapter that a worker put into the store although its job had passed to another worker, and perhaps ended
 * long ago. A round of retention deletes it, unless a version has come to need it. For a job that ended recently the
 * record is still there, see `deleteUnneededFiles`.
 */
export async function recordLeftAdapter(db: Kysely<Database>, jobId: string, adapterHash: string): Promise<void> {
  await db
    .insertInto('kept_adapters')
    // NULL if the job is archived, as for an import without jobs.
    .values({ adapter_hash: adapterHash, job_id: sql<string | null>`(select id from jobs where id = ${jobId})` })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  crashPoint('adapter.left_recorded');
}

/**
 * Records that an import is about to keep these adapters. If it is killed before its versions are there, retention
 * finds the files and deletes them. `takeImportRecords` ends the record. Otherwise, as when the import is refused, a
 * round of retention ends it a day later.
 */
export async function recordImport(db: Kysely<Database>, adapterHashes: readonly string[]): Promise<void> {
  await inTransaction(db, 'import.recorded', async (trx) => {
    await deleteImportRecords(trx, adapterHashes);
    const rows = adapterHashes.map((adapterHash) => ({ adapter_hash: adapterHash, job_id: null }));
    await trx.insertInto('kept_adapters').values(rows).execute();
  });
}

/**
 * Ends the records of an import. The caller holds `lockAdapter` on each of these adapters, makes their versions in the
 * same transaction, and has called `recordImport` before. A simultaneous import of the same adapters may have taken the
 * record. Its versions do as well, since the lock keeps their files from being deleted.
 */
export async function takeImportRecords(trx: Transaction<Database>, adapterHashes: readonly string[]): Promise<void> {
  const recorded = await trx
    .selectFrom('kept_adapters')
    .select('adapter_hash')
    .where('adapter_hash', 'in', adapterHashes)
    .union(
      trx
        .selectFrom('versions')
        .select('adapter_hash')
        .where('adapter_hash', 'in', adapterHashes)
        .where('files_deleted_at', 'is', null),
    )
    .execute();
  if (recorded.length !== adapterHashes.length) throw new Error('adapters are imported that nobody has recorded');
  await deleteImportRecords(trx, adapterHashes);
}

async function deleteImportRecords(trx: Transaction<Database>, adapterHashes: readonly string[]): Promise<void> {
  await trx
    .deleteFrom('kept_adapters')
    .where('adapter_hash', 'in', adapterHashes)
    .where('job_id', 'is', null)
    .execute();
}

/** Until the transaction ends, nobody else records or deletes this adapter. Order of locks: the job before this. */
export async function lockAdapter(trx: Transaction<Database>, adapterHash: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${adapterHash}, 0))`.execute(trx);
}

/** Until the transaction ends, no backup begins. `false` while a backup is being made, see `backup/makeBackup.ts`. */
export async function mayDeleteAdapters(trx: Transaction<Database>): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock_shared(${advisoryLocks.backup}) as free`.execute(trx);
  return rows[0]?.free === true;
}
