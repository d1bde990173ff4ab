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
 * Whether there is room for one more open job. Reads the counts that the database keeps, one for each project; each
 * transaction is counted when it commits, so its own job never is.
 *
 * Nothing is locked for it, so admission asks twice. Asked first of all, it refuses what comes to a full queue before
 * anything costly is done in the database. Asked again once the project's balance is locked, it sees every other
 * admission of the project that came to an end: the limit of a project is never passed. That of the service may be, by
 * one job for each further project that is admitting at that moment.
 */
export async function checkOpenJobs(
  trx: Transaction<Database>,
  project_id: string,
  limits: OpenJobLimits,
): Promise<OpenJobsOutcome> {
  const { rows } = await sql<{ of_project: number; of_service: number }>`
    select coalesce(sum(jobs) filter (where project_id = ${project_id}), 0)::int as of_project,
      coalesce(sum(jobs), 0)::int as of_service
    from open_jobs
  `.execute(trx);
  const [open] = rows;
  if (open === undefined) throw new Error('a sum over all projects has no row');
  if (open.of_project >= limits.of_project) return 'project_queue_full';
  return open.of_service >= limits.of_service ? 'service_queue_full' : 'within_limits';
}
