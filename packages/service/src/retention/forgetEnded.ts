import { sql, type Kysely } from 'kysely';
import { steadyTime } from '../clock/observeClock.js';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { forgetJobs } from '../jobs/forgetJobs.js';

const batchJobs = 500;
const batchVersions = 1_000;

/**
 * Forgets the jobs that ended this many days ago, by `steady_time`: a clock that was wrong for a moment forgets
 * nothing. Returns how many.
 */
export async function forgetEndedJobs(
  db: Kysely<Database>,
  retentionDays: number,
  stopping?: AbortSignal,
): Promise<number> {
  let forgotten = 0;
  while (stopping?.aborted !== true) {
    const batch = await inTransaction<number>(db, 'jobs.forgotten', async (trx) => {
      const due = await trx
        .selectFrom('jobs')
        .select('id')
        .where('settled', '=', true)
        .where('forgotten_at', 'is', null)
        .where('updated_at', '<=', sql<Date>`${steadyTime} - ${retentionDays} * interval '24 hours'`)
        .orderBy('updated_at')
        .limit(batchJobs)
        .modifyEnd(sql`for no key update skip locked`)
        .execute();
      await forgetJobs(
        trx,
        due.map(({ id }) => id),
      );
      return due.length;
    });
    forgotten += batch;
    if (batch < batchJobs) break;
  }
  return forgotten;
}

/**
 * Removes the questions that taught versions whose files are deleted, once no version that learned on top of them can
 * be learned on any more, so that nobody would rehearse them. Returns how many versions had any.
 */
export async function forgetRehearsals(db: Kysely<Database>, stopping?: AbortSignal): Promise<number> {
  let forgotten = 0;
  // Begins with the last of a chain, and takes only as many at once as a statement may.
  while (stopping?.aborted !== true) {
    const unneeded = db
      .selectFrom('versions')
      .select('versions.id')
      .where('rehearsal', 'is not', null)
      .where('files_deleted_at', 'is not', null)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('versions as child')
              .select('child.id')
              .whereRef('child.parent_version_id', '=', 'versions.id')
              .where('child.rehearsal', 'is not', null),
          ),
        ),
      )
      .limit(batchVersions)
      .modifyEnd(sql`for no key update skip locked`);
    const { numUpdatedRows } = await db
      .updateTable('versions')
      .set({ rehearsal: null })
      .where(sql<boolean>`id = any(array(${unneeded}))`)
      .executeTakeFirstOrThrow();
    crashPoint('rehearsals.forgotten');
    if (numUpdatedRows === 0n) break;
    forgotten += Number(numUpdatedRows);
  }
  return forgotten;
}
