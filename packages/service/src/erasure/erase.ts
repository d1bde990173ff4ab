import type { Kysely, Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { cancelJob } from '../jobs/cancelJob.js';
import { eraseSubjects } from '../subjects/eraseSubjects.js';
import { eraseVersionsOf } from '../versions/eraseVersions.js';

/** Counts of the things that an erasure removed. */
export interface Erased {
  readonly subjects: number;
  readonly versions: number;
  readonly jobs: number;
}

/** Ends jobs without charge. Each is an event of its own. */
export async function cancelJobs(db: Kysely<Database>, operator: Operator, jobIds: readonly string[]): Promise<void> {
  for (const jobId of jobIds) {
    await audited(
      db,
      operator,
      (trx) => cancelJob(trx, jobId),
      (outcome) => {
        if (outcome.kind !== 'cancelled' && outcome.kind !== 'to_be_resolved') return null;
        const { kind, project_id, was } = outcome;
        return { action: 'job.cancel', project_id, target: jobId, details: { was, outcome: kind } };
      },
    );
  }
}

/** Erases subjects that this transaction has locked, and their versions. Returns how many versions there were. */
export async function eraseWithVersions(trx: Transaction<Database>, subjectRefs: readonly string[]): Promise<number> {
  if (subjectRefs.length === 0) return 0;
  await eraseSubjects(trx, subjectRefs);
  return eraseVersionsOf(trx, subjectRefs);
}
