import { sql, type Kysely, type SelectQueryBuilder, type Transaction } from 'kysely';
import { steadyTime } from '../clock/observeClock.js';
import type { Database } from '../db/schema.js';

/** When the oldest month begins that stays, by `steady_time`: a clock that was wrong for a moment moves nothing. */
const staysSince = (afterMonths: number) => sql<Date>`(date_trunc('month',
  ${steadyTime} at time zone 'utc') - ${afterMonths} * interval '1 month') at time zone 'utc'`;

const monthOf = sql<string>`to_char(jobs.updated_at at time zone 'utc', 'YYYY-MM')`;

/** The month (`YYYY-MM`) of the job that has been due longest. `null` if none is. */
export async function oldestDueMonth(db: Kysely<Database>, afterMonths: number): Promise<string | null> {
  const row = await dueJobs(db, afterMonths).select(monthOf.as('month')).limit(1).executeTakeFirst();
  return row?.month ?? null;
}

/** The ids of jobs that ended in this month and are due. The transaction locks them. */
export async function lockDueJobs(
  trx: Transaction<Database>,
  { month, afterMonths, limit }: { readonly month: string; readonly afterMonths: number; readonly limit: number },
): Promise<string[]> {
  const begin = sql`(${`${month}-01`}::date)::timestamp`;
  const rows = await dueJobs(trx, afterMonths)
    .select('jobs.id')
    .where('jobs.updated_at', '>=', sql<Date>`${begin} at time zone 'utc'`)
    .where('jobs.updated_at', '<', sql<Date>`(${begin} + interval '1 month') at time zone 'utc'`)
    .limit(limit)
    .modifyEnd(sql`for update of jobs skip locked`)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * The jobs that ended long enough ago and that nobody can read any more, oldest end first. Jobs that are `ready` stay,
 * since their versions name them. A job that was refunded since waits until that month is due, too.
 */
function dueJobs(db: Kysely<Database>, afterMonths: number): SelectQueryBuilder<Database, 'jobs', object> {
  return (
    db
      .selectFrom('jobs')
      .where('jobs.settled', '=', true)
      .where('jobs.forgotten_at', 'is not', null)
      .where('jobs.status', '<>', 'ready')
      .where('jobs.updated_at', '<', staysSince(afterMonths))
      // For each job by itself: as a join it might read all transfers that are younger.
      .where(
        sql<boolean>`coalesce((select max(created_at) from transfers where job_id = jobs.id)
        < ${staysSince(afterMonths)}, true)`,
      )
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('kept_adapters')
              .select('kept_adapters.job_id')
              .whereRef('kept_adapters.job_id', '=', 'jobs.id'),
          ),
        ),
      )
      .orderBy('jobs.updated_at')
  );
}
