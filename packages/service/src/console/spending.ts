import type { Spending, SpendingQuery } from '@engraft/contract/console';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId } from '../ledger/accounts.js';

/** As many as a chart can show apart. */
const maxNames = 7;

/** The reason for a transfer into `spent`. Hosting has no job, and so no key. */
const names: Readonly<Record<SpendingQuery['by'], RawBuilder<string>>> = {
  kind: sql`case when transfers.kind = 'hosting' then 'hosting'
    when jobs.kind = 'inference' then 'questions' else 'learning' end`,
  subject: sql`coalesce(jobs.subject_name, subjects.name, '(erased)')`,
  key: sql`coalesce(api_keys.name || ' …' || right(api_keys.id, 4), 'hosting')`,
};

/** A project's spending on each of the last days (UTC), by what it was for. */
export async function readSpending(
  db: Kysely<Database>,
  projectId: string,
  { by, days }: SpendingQuery,
): Promise<Spending> {
  const { rows } = await sql<{ day: string; name: string | null; microusd: number; rank: number | null }>`
    with days as (
      select generate_series(today - ${Number(days) - 1}::int, today, interval '1 day')::date as day
      from (select (now() at time zone 'utc')::date as today) as clock
    ), spent as (
      select (transfers.created_at at time zone 'utc')::date as day, ${names[by]} as name,
        sum(amount_microusd)::bigint as microusd
      from transfers
        left join jobs on jobs.id = transfers.job_id
        left join api_keys on api_keys.id = jobs.api_key_id
        left join versions on versions.id = transfers.version_id
        left join subjects on subjects.id = versions.subject_ref
      where transfers.to_account = ${accountId('spent', projectId)}
        and transfers.created_at >= (select min(day) from days)::timestamp at time zone 'utc'
      group by 1, 2
    ), ranked as (
      select name, least(row_number() over (order by sum(microusd) desc, name), ${maxNames + 1})::int as rank
      from spent group by name
    )
    select to_char(days.day, 'YYYY-MM-DD') as day, rank,
      max(name) filter (where rank <= ${maxNames}) as name,
      coalesce(sum(microusd) filter (where spent.day = days.day), 0)::bigint as microusd
    from days left join (spent join ranked using (name)) on true
    group by days.day, rank order by rank, days.day
  `.execute(db);
  const ranks = [...new Set(rows.map(({ rank }) => rank))];
  const ofRank = (rank: number | null) => rows.filter((row) => row.rank === rank);
  const [first] = ranks;
  return {
    days: first === undefined ? [] : ofRank(first).map(({ day }) => day),
    groups: ranks
      // Without any spending there is one row for each day, and nothing that it was for.
      .filter((rank) => rank !== null)
      .map((rank) => ({
        name: ofRank(rank)[0]?.name ?? null,
        microusd_by_day: ofRank(rank).map(({ microusd }) => microusd),
      })),
  };
}
