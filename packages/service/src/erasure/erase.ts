import type { Kysely, Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { cancelJob } from '../jobs/cancelJob.js';
import { eraseSubjects } from '../subjects/eraseSubjects.js';
import { eraseVersionsOf } from '../versions/eraseVersions.js';

/** What an erasure removed. */
export interface Erased {
  readonly subjects: number;
  readonly versions: number;
  readonly jobs: number;
}

/** Ends jobs without charge. Each is an event of its own. */
export async function cancelJobs(db: Kysely<Database>, operator: Operator, job_ids: readonly string[]): Promise<void> {
  for (const job_id of job_ids) {
    await audited(
      db,
      operator,
      (trx) => cancelJob(trx, job_id),
      (outcome) => {
        if (outcome.kind !== 'cancelled' && outcome.kind !== 'to_be_resolved') return null;
        const { kind, project_id, was } = outcome;
        return { action: 'job.cancel', project_id, target: job_id, details: { was, outcome: kind } };
      },
    );
  }
}

/** Erases subjects that this transaction has locked, and their versions. Returns how many versions there were. */
export async function eraseWithVersions(trx: Transaction<Database>, subject_refs: readonly string[]): Promise<number> {
  if (subject_refs.length === 0) return 0;
  await eraseSubjects(trx, subject_refs);
  return eraseVersionsOf(trx, subject_refs);
}
