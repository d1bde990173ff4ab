import { randomBytes } from 'node:crypto';
import { sql, type Kysely, type Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { cancelJob } from '../jobs/cancelJob.js';
import { forgetJobs } from '../jobs/forgetJobs.js';

/** What an erasure removed. */
export interface Erased {
  readonly subjects: number;
  readonly versions: number;
  readonly jobs: number;
}

/** No caller can send a name like it. */
export function erasedName(id = randomBytes(9).toString('base64url')): string {
  return `(erased) ${id}`;
}

/** Stands in place of the subject's name. */
export const erasedJobName = '(erased)';

/** Ends jobs without charge; each is an event of its own. */
export async function cancelJobs(
  db: Kysely<Database>,
  operator: Operator,
  jobs: readonly { readonly id: string }[],
): Promise<void> {
  for (const { id } of jobs) {
    await audited(
      db,
      operator,
      (trx) => cancelJob(trx, id),
      (outcome) => {
        if (outcome.kind !== 'cancelled' && outcome.kind !== 'to_be_resolved') return null;
        const { kind, project_id, was } = outcome;
        return { action: 'job.cancel', project_id, target: id, details: { was, outcome: kind } };
      },
    );
  }
}

/**
 * Takes their names and versions from subjects that this transaction has locked. The files go in the next round of
 * retention, without the days that expired ones stay. Returns how many versions there were.
 */
export async function eraseSubjects(trx: Transaction<Database>, subject_refs: readonly string[]): Promise<number> {
  if (subject_refs.length === 0) return 0;
  await trx
    .updateTable('subjects')
    .set({ name: sql<string>`${erasedName('')} || id`, active_version_id: null, erased_at: sql<Date>`now()` })
    .where(sql<boolean>`id = any(${subject_refs})`)
    .execute();
  const { numUpdatedRows } = await trx
    .updateTable('versions')
    .set({
      rehearsal: null,
      expires_at: sql<Date>`least(expires_at, now())`,
      retention_ended_at: sql<Date>`coalesce(retention_ended_at, now())`,
      retention_ended_by: 'operator',
      erased_at: sql<Date>`now()`,
    })
    .where(sql<boolean>`subject_ref = any(${subject_refs})`)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** The name is all that is told of the jobs' subject; what they cost stays. */
export async function eraseJobs(trx: Transaction<Database>, jobs: readonly { readonly id: string }[]): Promise<void> {
  const job_ids = jobs.map(({ id }) => id);
  await forgetJobs(trx, job_ids);
  await trx
    .updateTable('jobs')
    .set({ subject_name: erasedJobName })
    .where(sql<boolean>`id = any(${job_ids})`)
    .execute();
}
