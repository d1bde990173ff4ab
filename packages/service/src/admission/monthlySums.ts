import type { ConsoleSettings } from '@engraft/contract/console';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId } from '../ledger/accounts.js';

type MonthlySum = 'spent' | 'reserved' | 'learning_spent' | 'learning_reserved';

/**
 * A project's spending in this calendar month (UTC) and its reservations now, in micro-USD: altogether, and for
 * learning jobs alone, without hosting. They are parts of a statement, so that no settlement falls between them.
 * A trigger adds up what was spent, see `monthly_spending`.
 */
export function monthlySums(projectId: string): Readonly<Record<MonthlySum, RawBuilder<number>>> {
  const sumOf = (column: 'spent_microusd' | 'learning_microusd') => sql<number>`(
    select coalesce(sum(${sql.ref(column)}), 0)::bigint from monthly_spending where project_id = ${projectId}
      -- Later ones were written by a clock that was ahead, and count until it gets there.
      and month >= date_trunc('month', now() at time zone 'utc'))`;
  return {
    // Whatever was refunded this month may be spent again.
    spent: sumOf('spent_microusd'),
    reserved: sql`(select balance_microusd from accounts where id = ${accountId('reserved', projectId)})`,
    learning_spent: sumOf('learning_microusd'),
    learning_reserved: sql`(select coalesce(sum(reserved_microusd), 0)::bigint from jobs
      where project_id = ${projectId} and kind = 'internalization' and not settled)`,
  };
}

export async function readMonth(db: Kysely<Database>, projectId: string): Promise<ConsoleSettings['this_month']> {
  const sums = monthlySums(projectId);
  const { rows } = await sql<ConsoleSettings['this_month']>`
    select ${sums.spent} as spent_microusd, ${sums.reserved} as reserved_microusd,
      ${sums.learning_spent} as learning_spent_microusd, ${sums.learning_reserved} as learning_reserved_microusd
  `.execute(db);
  const [month] = rows;
  if (month === undefined) throw new Error('a select without a table has no row');
  return month;
}
