import { learningTrace, type LearningTrace } from '@engraft/contract/console';
import { lossOfOutcome, lossOfProgress } from '@engraft/learning';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

/**
 * How a learning went, or how far its loss has come while it trains. `null` if there is nothing to show: before
 * training, for another kind of job, and once the job is forgotten.
 */
export async function readLearningTrace(db: Kysely<Database>, jobId: string): Promise<LearningTrace | null> {
  const row = await db
    .selectFrom('jobs')
    .leftJoin('job_phases', (join) =>
      join.onRef('job_phases.job_id', '=', 'jobs.id').on('job_phases.phase', '=', 'training'),
    )
    .select(['learning_trace', 'training_progress', 'job_phases.outcome as trained'])
    .where('jobs.id', '=', jobId)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.learning_trace !== null) return learningTrace.parse(row.learning_trace);
  const loss = row.training_progress === null ? lossOfOutcome(row.trained) : lossOfProgress(row.training_progress);
  return loss.length === 0 ? null : { loss, questions: [] };
}
