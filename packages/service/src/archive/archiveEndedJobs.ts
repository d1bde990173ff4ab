import path from 'node:path';
import { sql, type Kysely, type Transaction } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { type FileContent, newArchiveName, writeArchiveFile } from './archiveFile.js';
import { readArchivedLines } from './archivedLines.js';
import { lockDueJobs, oldestDueMonth } from './dueJobs.js';

export interface Archiving {
  readonly folder: string;
  /** See `ENGRAFT_ARCHIVE_AFTER_MONTHS`. */
  readonly afterMonths: number;
  /** The most jobs of one file. */
  readonly jobsPerFile?: number;
}

/** A transaction must end within 20 s (`maxHeldMs`), and takes about one. */
const defaultJobsPerFile = 5_000;
/** Their lines are in memory at once. */
const jobsPerRead = 500;

/**
 * Moves the jobs of closed months out of the tables into files, with all that hangs on them, month by month. A job
 * stays in the tables until the transaction that removes it has committed, and its file is whole before that. Only one
 * worker archives at a time. Returns how many jobs were moved.
 */
export async function archiveEndedJobs(
  db: Kysely<Database>,
  archiving: Archiving,
  stopping?: AbortSignal,
): Promise<number> {
  let archived = 0;
  while (stopping?.aborted !== true) {
    const month = await oldestDueMonth(db, archiving.afterMonths);
    if (month === null) break;
    await beginArchive(db, month);
    const moved = await archiveSlice(db, archiving, month);
    // Another worker is at it, or has the jobs locked.
    if (moved === 0) break;
    archived += moved;
  }
  return archived;
}

/** Names the next file of the month. If the one before was never used, since a worker died, it stays the next one. */
async function beginArchive(db: Kysely<Database>, month: string): Promise<void> {
  await db
    .insertInto('archives')
    .values({ month: sql<Date>`${`${month}-01`}::date`, file: newArchiveName(month) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  crashPoint('archive.begun');
}

async function archiveSlice(
  db: Kysely<Database>,
  { folder, afterMonths, jobsPerFile = defaultJobsPerFile }: Archiving,
  month: string,
): Promise<number> {
  return inTransaction<number>(db, 'archive.moved', async (trx) => {
    if (!(await mayArchive(trx))) return 0;
    const archive = await begunArchive(trx, month);
    if (archive === undefined) return 0;
    const jobIds = await lockDueJobs(trx, { month, afterMonths, limit: jobsPerFile });
    if (jobIds.length === 0) return 0;
    const counted = { transfers: 0 };
    const content = await writeArchiveFile(path.join(folder, archive.file), linesOf(trx, jobIds, counted));
    await removeArchived(trx, archive.id, jobIds, counted.transfers, content);
    return jobIds.length;
  });
}

/** Until the transaction ends, nobody else does: two workers that share a folder never write one file together. */
async function mayArchive(trx: Transaction<Database>): Promise<boolean> {
  const { rows } = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(${advisoryLocks.archive}) as free`.execute(trx);
  return rows[0]?.free === true;
}

/** `undefined` if another worker has used it meanwhile. */
function begunArchive(trx: Transaction<Database>, month: string) {
  return trx
    .selectFrom('archives')
    .select(['id', 'file'])
    .where('month', '=', sql<Date>`${`${month}-01`}::date`)
    .where('moved_at', 'is', null)
    .executeTakeFirst();
}

async function* linesOf(
  trx: Transaction<Database>,
  jobIds: readonly string[],
  counted: { transfers: number },
): AsyncGenerator<string> {
  for (let at = 0; at < jobIds.length; at += jobsPerRead) {
    for (const { line, transfers } of await readArchivedLines(trx, jobIds.slice(at, at + jobsPerRead))) {
      counted.transfers += transfers;
      yield `${line}\n`;
    }
  }
}

/** The database checks again that each job may go, adds up its transfers, and records the file. */
async function removeArchived(
  trx: Transaction<Database>,
  archiveId: number,
  jobIds: readonly string[],
  transfers: number,
  { size_bytes, sha256 }: FileContent,
): Promise<void> {
  await sql`select archive_jobs(${archiveId}::bigint, ${jobIds}::text[], ${transfers}::bigint, ${size_bytes}::bigint,
    ${sha256}::bytea)`.execute(trx);
}
