import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';

/** The most jobs that may be queued or running at once. */
export interface OpenJobLimits {
  readonly of_project: number;
  /** The limit for all projects together. */
  readonly of_service: number;
}

export type OpenJobsOutcome = 'within_limits' | 'project_queue_full' | 'service_queue_full';

/**
 * Whether there is room for one more open job. Reads the counts that the database keeps for each project and for all. A
 * transaction is counted when it commits, so its own job never is.
 *
 * Nothing is locked, so admission asks twice. The first time, it refuses requests to a full queue before anything
 * costly happens in the database. The second time, the project's balance is locked, and all finished admissions of the
 * project are visible, so the limit of a project is never passed. The limit of the service may be, by one job for each
 * further project that is admitting at that moment.
 */
export async function checkOpenJobs(
  trx: Transaction<Database>,
  projectId: string,
  limits: OpenJobLimits,
): Promise<OpenJobsOutcome> {
  const { rows } = await sql<{ of_project: number; of_service: number }>`
    select coalesce((select jobs from open_jobs where project_id = ${projectId}), 0)::int as of_project,
      coalesce(sum(jobs), 0)::int as of_service
    from open_jobs_of_service
  `.execute(trx);
  const [open] = rows;
  if (open === undefined) throw new Error('a sum over all projects has no row');
  if (open.of_project >= limits.of_project) return 'project_queue_full';
  return open.of_service >= limits.of_service ? 'service_queue_full' : 'within_limits';
}
