/**
 * The invariants of the ledger, as statements that select a sentence for every row that breaks them. Archived transfers
 * count by their sums.
 */
import { sql, type RawBuilder } from 'kysely';

export interface Difference {
  readonly difference: string;
}

/** Whether a row belongs to the slice that is looked at. */
type InSlice = RawBuilder<boolean>;

/** The rows of a table that are looked at together, in the order of a key, and what must be true of each. */
export interface SlicedChecks {
  readonly table: 'projects' | 'accounts' | 'transfers' | 'jobs';
  readonly key: 'id' | 'sequence';
  /** Each statement then takes well below a second, unless one project alone has millions of transfers. */
  readonly sliceRows: number;
  readonly checks: (inSlice: InSlice) => readonly RawBuilder<Difference>[];
}

/** Each compares sums of one moment, and reads no more than the accounts and the open jobs. */
export const wholeChecks: readonly RawBuilder<Difference>[] = [
  sql`
    select format('all accounts together hold %s micro-USD instead of 0', sum(balance_microusd)) as difference
    from accounts having sum(balance_microusd) <> 0`,
  sql`
    select format('project %s holds %s micro-USD reserved; its open reservations add up to %s',
                  project_id, balance_microusd, coalesce(open_microusd, 0)) as difference
    from accounts left join (
      -- The jobs that are not settled, by an index for each status.
      select project_id, sum(reserved_microusd) as open_microusd from (
        select project_id, reserved_microusd from jobs where status = 'queued'
        union all
        select project_id, reserved_microusd from jobs where status = 'running'
        union all
        select project_id, reserved_microusd from jobs where status = 'reconciliation_required'
      ) as open_jobs group by project_id
    ) as sums using (project_id)
    where kind = 'reserved' and balance_microusd <> coalesce(open_microusd, 0)`,
  sql`
    select format('the archives hold %s micro-USD; of accounts, %s were received and %s sent',
                  moved, received, sent) as difference
    from (select coalesce(sum(amount_microusd), 0) as moved from archives) as files,
      (select coalesce(sum(received_microusd), 0) as received, coalesce(sum(sent_microusd), 0) as sent
        from archived_sums) as sums
    where moved <> received or moved <> sent`,
];

const ofProjects = (inSlice: InSlice) => [
  sql<Difference>`
    select format('project %s has %s accounts instead of 3', projects.id, count(accounts.id)) as difference
    from projects left join accounts on accounts.project_id = projects.id
    where projects.${inSlice}
    group by projects.id having count(accounts.id) <> 3`,
  sql<Difference>`
    with charges as (
      select project_id, created_at, amount_microusd as spent, 0 as learning
        from accounts join transfers on to_account = accounts.id
        where accounts.kind = 'spent' and project_id in (select id from projects where ${inSlice})
      union all
      select project_id, created_at, -amount_microusd, 0
        from accounts join transfers on from_account = accounts.id
        where accounts.kind = 'spent' and project_id in (select id from projects where ${inSlice})
      union all
      select project_id, transfers.created_at, 0, amount_microusd
        from jobs join transfers on job_id = jobs.id
        where jobs.kind = 'internalization' and transfers.kind = 'post'
          and project_id in (select id from projects where ${inSlice})
      union all
      select project_id, month::timestamp at time zone 'utc', received_microusd - sent_microusd, learning_microusd
        from accounts join archived_sums on account_id = accounts.id
        where accounts.kind = 'spent' and project_id in (select id from projects where ${inSlice})
    ), sums as (
      select project_id, date_trunc('month', created_at at time zone 'utc')::date as month,
        sum(spent) as spent, sum(learning) as learning
      from charges group by 1, 2
    ), kept as (select * from monthly_spending where project_id in (select id from projects where ${inSlice}))
    select format('project %s spent %s micro-USD in %s, %s of it for learning; its transfers add up to %s and %s',
                  project_id, coalesce(spent_microusd, 0), to_char(month, 'YYYY-MM'), coalesce(learning_microusd, 0),
                  coalesce(spent, 0), coalesce(learning, 0)) as difference
    from kept full join sums using (project_id, month)
    where coalesce(spent_microusd, 0) <> coalesce(spent, 0) or coalesce(learning_microusd, 0) <> coalesce(learning, 0)`,
];

const ofAccounts = (inSlice: InSlice) => [
  sql<Difference>`
    select format('account %s holds %s micro-USD; its transfers add up to %s',
                  id, balance_microusd, moved) as difference
    from accounts, lateral (
      select coalesce((select sum(amount_microusd) from transfers where to_account = accounts.id), 0)
        - coalesce((select sum(amount_microusd) from transfers where from_account = accounts.id), 0)
        + coalesce((select sum(received_microusd - sent_microusd) from archived_sums
          where account_id = accounts.id), 0) as moved
    ) as sums
    where ${inSlice} and balance_microusd <> moved`,
  sql<Difference>`
    select format('account %s kept %s micro-USD of archived jobs, which are settled', id, left_over) as difference
    from accounts, lateral (
      select coalesce(sum(received_microusd - sent_microusd), 0) as left_over
      from archived_sums where account_id = accounts.id
    ) as archived
    where ${inSlice} and kind = 'reserved' and left_over <> 0`,
  sql<Difference>`
    select format('account %s is negative: %s micro-USD', id, balance_microusd) as difference
    from accounts where ${inSlice} and kind <> 'issued' and balance_microusd < 0`,
  sql<Difference>`
    select format('account %s is named otherwise than its kind %s and project %s', id, kind, project_id) as difference
    from accounts
    where ${inSlice} and id <> case kind when 'issued' then 'issued' else kind || ':' || project_id end`,
];

const ofTransfers = (inSlice: InSlice) => [
  sql<Difference>`
    select format('transfer %s (%s) goes from %s to %s', t.id, t.kind, t.from_account, t.to_account) as difference
    from transfers t
    join accounts source on source.id = t.from_account
    join accounts target on target.id = t.to_account
    left join jobs on jobs.id = t.job_id
    where t.${inSlice} and ((t.kind, source.kind, target.kind) not in (
        ('grant', 'issued', 'available'), ('reserve', 'available', 'reserved'), ('post', 'reserved', 'spent'),
        ('void', 'reserved', 'available'), ('hosting', 'available', 'spent'), ('refund', 'spent', 'available'))
      or source.project_id <> target.project_id
      or jobs.project_id <> target.project_id)`,
  sql<Difference>`
    select case when t.version_id is null then format('transfer %s (hosting) names no version', t.id)
      else format('transfer %s (%s) of %s names version %s', t.id, t.kind, t.from_account, t.version_id)
    end as difference
    from transfers t
    left join versions on versions.id = t.version_id
    left join subjects on subjects.id = versions.subject_ref
    where t.${inSlice} and ((t.kind <> 'refund' and (t.kind = 'hosting') <> (t.version_id is not null))
      or (t.kind = 'hosting' and t.from_account <> 'available:' || subjects.project_id))`,
  sql<Difference>`
    select case when r.version_id is null
        then format('transfer %s refunds %s micro-USD of job %s, which was charged %s',
                    r.id, r.amount_microusd, r.job_id, charged)
      else format('transfer %s refunds %s micro-USD of day %s of version %s, which cost %s',
                  r.id, r.amount_microusd, r.hosting_day, r.version_id, charged)
    end as difference
    from transfers r, lateral (select coalesce(
      (select amount_microusd from transfers where kind = 'post' and job_id = r.job_id),
      (select amount_microusd from transfers
        where kind = 'hosting' and version_id = r.version_id and hosting_day = r.hosting_day),
      0) as charged) as charge
    where r.${inSlice} and r.kind = 'refund' and r.amount_microusd > charged`,
];

const ofJobs = (inSlice: InSlice) => [
  sql<Difference>`
    select case
      when reserves <> 1 then format('job %s has %s reservations instead of 1', id, reserves)
      when reserved <> reserved_microusd
        then format('job %s records a reservation of %s micro-USD; its transfer moved %s',
                    id, reserved_microusd, reserved)
      when not settled then format('job %s is not settled, but %s micro-USD left its reservation', id, posted + voided)
      when posted <> charged_microusd
        then format('job %s was charged %s micro-USD; %s were posted', id, charged_microusd, posted)
      else format('job %s reserved %s micro-USD; %s were posted and %s voided', id, reserved, posted, voided)
    end as difference
    from jobs, lateral (
      select count(*) filter (where kind = 'reserve') as reserves,
             coalesce(sum(amount_microusd) filter (where kind = 'reserve'), 0) as reserved,
             coalesce(sum(amount_microusd) filter (where kind = 'post'), 0) as posted,
             coalesce(sum(amount_microusd) filter (where kind = 'void'), 0) as voided
      from transfers where job_id = jobs.id
    ) as entries
    where jobs.${inSlice} and (reserves <> 1
      or reserved <> reserved_microusd
      or (settled and (posted <> charged_microusd or posted + voided <> reserved))
      or (not settled and posted + voided <> 0))`,
];

export const slicedChecks: readonly SlicedChecks[] = [
  { table: 'projects', key: 'id', sliceRows: 100, checks: ofProjects },
  { table: 'accounts', key: 'id', sliceRows: 300, checks: ofAccounts },
  { table: 'transfers', key: 'id', sliceRows: 20_000, checks: ofTransfers },
  { table: 'jobs', key: 'sequence', sliceRows: 10_000, checks: ofJobs },
];
