import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { verifyLedger } from '../ledger/verifyLedger.js';

/** How many jobs there are, and everything that half an admission would have left behind. */
export interface StateReport {
  readonly jobs: number;
  readonly halfStates: readonly string[];
}

/**
 * A job comes with its idempotency key (unless it was imported or forgotten), its reservation and its subject, or not
 * at all, and the ledger is consistent. Call it when no request is under way.
 */
export async function findHalfStates(db: Kysely<Database>): Promise<StateReport> {
  const { rows } = await sql<{ what: string }>`
    select 'job without its idempotency key: ' || id as what from jobs
      where forgotten_at is null and not exists (select from idempotency_keys where job_id = jobs.id)
        and not exists (select from api_keys where id = api_key_id and name = 'engraft import')
    union all
    select 'job without its reservation: ' || id from jobs
      where not exists (select from transfers where job_id = jobs.id and kind = 'reserve'
        and amount_microusd = jobs.reserved_microusd)
    union all
    select 'subject that no job named: ' || name from subjects
      where not exists (select from jobs where subject_ref = subjects.id)
        -- Its jobs may be archived.
        and created_at >= coalesce((select max(month) + interval '1 month' from archives), '-infinity')
    union all
    select 'balances hold more or less than the open jobs: ' || project_id from accounts
      where kind = 'reserved' and balance_microusd <>
        (select coalesce(sum(reserved_microusd), 0) from jobs where project_id = accounts.project_id and not settled)
    union all
    select format('project %s has %s open jobs, and %s are counted', id, open, counted) from projects,
      lateral (select count(*) as open from jobs where project_id = projects.id and status in ('queued', 'running')),
      lateral (select coalesce(sum(jobs), 0) as counted from open_jobs where project_id = projects.id)
      where open <> counted
    union all
    select format('%s jobs are open, and %s are counted', open, counted) from
      (select count(*) as open from jobs where status in ('queued', 'running')) as jobs,
      (select coalesce(sum(jobs), 0) as counted from open_jobs_of_service) as counts
      where open <> counted
    union all
    select format('project %s has %s queued jobs (%s), and %s are counted', id, waiting, kind, counted)
      from projects cross join (values ('inference'), ('internalization')) as kinds(kind),
      lateral (select count(*) as waiting from jobs
        where project_id = projects.id and jobs.kind = kinds.kind and status = 'queued'),
      lateral (select coalesce(sum(queued), 0) as counted from project_turns
        where project_id = projects.id and project_turns.kind = kinds.kind)
      where waiting <> counted
  `.execute(db);
  const { differences } = await verifyLedger(db);
  const { count } = await db
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return {
    jobs: count,
    halfStates: [...rows.map(({ what }) => what), ...differences.map((each) => JSON.stringify(each))],
  };
}
