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
 * Whether there is room for one more open job. Reads the indexes of queued and of running jobs (their first column is
 * the kind), and no more of them than the limits allow: 2 ms where ten thousand are open.
 *
 * Nothing is locked for it, so admission asks twice. Asked first of all, it refuses what comes to a full queue before
 * anything costly is done. Asked again once the job is inserted and the project's balance is locked, it sees every
 * other admission of the project that came to an end: the limit of a project is never passed. That of the service may
 * be, by one job for each further project that is admitting at that moment.
 * @param own_jobs those of this transaction, which are not counted
 */
export async function checkOpenJobs(
  trx: Transaction<Database>,
  project_id: string,
  limits: OpenJobLimits,
  own_jobs: 0 | 1,
): Promise<OpenJobsOutcome> {
  const [of_project, of_service] = [limits.of_project + own_jobs, limits.of_service + own_jobs];
  const { rows } = await sql<{ project_full: boolean; service_full: boolean }>`
    select
      (select count(*) from (
        (select from jobs where status = 'queued' and kind in ('inference', 'internalization')
          and project_id = ${project_id} limit ${of_project})
        union all
        (select from jobs where status = 'running' and project_id = ${project_id} limit ${of_project})
      ) as open) >= ${of_project} as project_full,
      (select count(*) from (
        (select from jobs where status = 'queued' limit ${of_service})
        union all
        (select from jobs where status = 'running' limit ${of_service})
      ) as open) >= ${of_service} as service_full
  `.execute(trx);
  const [found] = rows;
  if (found?.project_full === true) return 'project_queue_full';
  return found?.service_full === true ? 'service_queue_full' : 'within_limits';
}
