import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../db/schema.js';

export interface LedgerReport {
  readonly ok: boolean;
  readonly projects: number;
  readonly transfers: number;
  /** One sentence each. Empty when `ok`. */
  readonly differences: readonly string[];
}

/** Enough to see what is wrong. A broken ledger may differ everywhere. */
const maxDifferencesPerCheck = 100;

/**
 * Recomputes every balance and invariant from the entries, on one snapshot, so that it can run beside the service. "The
 * sum over all accounts is zero at every moment, and no project's available balance is ever negative."
 */
export async function verifyLedger(db: Kysely<Database>): Promise<LedgerReport> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      const differences: string[] = [];
      for (const check of checks) {
        const { rows } = await sql<Difference>`${check} limit ${maxDifferencesPerCheck}`.execute(trx);
        differences.push(...rows.map((row) => row.difference));
      }
      const counts = await sql<{ projects: number; transfers: number }>`
        select (select count(*) from projects) as projects, (select count(*) from transfers) as transfers
      `.execute(trx);
      const [count] = counts.rows;
      if (count === undefined) throw new Error('counting returned no row');
      return { ok: differences.length === 0, ...count, differences };
    });
}

interface Difference {
  readonly difference: string;
}

/** Each selects a sentence for every row that breaks it. */
const checks: readonly RawBuilder<Difference>[] = [
  sql`
    select format('account %s holds %s micro-USD; its transfers add up to %s',
                  id, balance_microusd, coalesce(moved_microusd, 0)) as difference
    from accounts left join (
      select id, sum(amount_microusd) as moved_microusd
      from (
        select to_account as id, amount_microusd from transfers
        union all
        select from_account, -amount_microusd from transfers
      ) as entries group by id
    ) as sums using (id)
    where balance_microusd <> coalesce(moved_microusd, 0)`,
  sql`
    select format('all accounts together hold %s micro-USD instead of 0', sum(balance_microusd)) as difference
    from accounts having sum(balance_microusd) <> 0`,
  sql`
    select format('account %s is negative: %s micro-USD', id, balance_microusd) as difference
    from accounts where kind <> 'issued' and balance_microusd < 0`,
  sql`
    select format('project %s has %s accounts instead of 3', projects.id, count(accounts.id)) as difference
    from projects left join accounts on accounts.project_id = projects.id
    group by projects.id having count(accounts.id) <> 3`,
  sql`
    select format('transfer %s (%s) goes from %s to %s', t.id, t.kind, t.from_account, t.to_account) as difference
    from transfers t
    join accounts source on source.id = t.from_account
    join accounts target on target.id = t.to_account
    left join jobs on jobs.id = t.job_id
    where (t.kind, source.kind, target.kind) not in (
        ('grant', 'issued', 'available'), ('reserve', 'available', 'reserved'), ('post', 'reserved', 'spent'),
        ('void', 'reserved', 'available'), ('hosting', 'available', 'spent'), ('refund', 'spent', 'available'))
      or source.project_id <> target.project_id
      or jobs.project_id <> target.project_id`,
  sql`
    select format('account %s is named otherwise than its kind %s and project %s', id, kind, project_id) as difference
    from accounts where id <> case kind when 'issued' then 'issued' else kind || ':' || project_id end`,
  sql`
    select case when t.version_id is null then format('transfer %s (hosting) names no version', t.id)
      else format('transfer %s (%s) of %s names version %s', t.id, t.kind, t.from_account, t.version_id)
    end as difference
    from transfers t
    left join versions on versions.id = t.version_id
    left join subjects on subjects.id = versions.subject_ref
    where (t.kind <> 'refund' and (t.kind = 'hosting') <> (t.version_id is not null))
      or (t.kind = 'hosting' and t.from_account <> 'available:' || subjects.project_id)`,
  sql`
    select case when r.version_id is null
        then format('transfer %s refunds %s micro-USD of job %s, which was charged %s',
                    r.id, r.amount_microusd, r.job_id, coalesce(charge.amount_microusd, 0))
      else format('transfer %s refunds %s micro-USD of day %s of version %s, which cost %s',
                  r.id, r.amount_microusd, r.hosting_day, r.version_id, coalesce(charge.amount_microusd, 0))
    end as difference
    from transfers r
    left join transfers charge on (charge.kind = 'post' and charge.job_id = r.job_id)
      or (charge.kind = 'hosting' and charge.version_id = r.version_id and charge.hosting_day = r.hosting_day)
    where r.kind = 'refund' and r.amount_microusd > coalesce(charge.amount_microusd, 0)`,
  sql`
    select case
      when reserves <> 1 then format('job %s has %s reservations instead of 1', id, reserves)
      when reserved <> reserved_microusd
        then format('job %s records a reservation of %s micro-USD; its transfer moved %s', id, reserved_microusd, reserved)
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
    where reserves <> 1
      or reserved <> reserved_microusd
      or (settled and (posted <> charged_microusd or posted + voided <> reserved))
      or (not settled and posted + voided <> 0)`,
  sql`
    select format('project %s holds %s micro-USD reserved; its open reservations add up to %s',
                  accounts.project_id, balance_microusd, open_microusd) as difference
    from accounts, lateral (
      select coalesce(sum(reserved_microusd), 0) as open_microusd
      from jobs where jobs.project_id = accounts.project_id and not settled
    ) as open_jobs
    where kind = 'reserved' and balance_microusd <> open_microusd`,
];
