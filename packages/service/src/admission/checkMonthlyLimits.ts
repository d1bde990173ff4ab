import type { JobKind } from '@engraft/contract';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { monthlySums } from './monthlySums.js';

export type MonthlyLimitsOutcome =
  | { readonly kind: 'within_limits' }
  | {
      readonly kind: 'spending_limit_reached' | 'monthly_capacity_reached';
      /** The rest of the limit after the new job's reservation. Below zero if the limit is passed. */
      readonly left_microusd: number;
    };

/**
 * Whether the project stays within its limits for the calendar month (UTC). Called after the new job's reservation is
 * made and while its balance is locked.
 * - `monthly_spending_limit_microusd`: what was spent this month less what was refunded, and everything that is
 *   reserved;
 * - `monthly_learning_capacity_microusd`, "at admission of learning": what learning jobs were charged this month, and
 *   what they reserve.
 *
 * All sums come from one statement, so that no settlement falls between them.
 */
export async function checkMonthlyLimits(
  trx: Transaction<Database>,
  projectId: string,
  kind: JobKind,
): Promise<MonthlyLimitsOutcome> {
  const sums = monthlySums(projectId);
  const { rows } = await sql<{ spending_left_microusd: number | null; capacity_left_microusd: number | null }>`
    select
      case when monthly_spending_limit_microusd is not null then
        (monthly_spending_limit_microusd - ${sums.spent} - ${sums.reserved})::bigint
      end as spending_left_microusd,
      case when ${kind} = 'internalization' and monthly_learning_capacity_microusd is not null then
        (monthly_learning_capacity_microusd - ${sums.learning_spent} - ${sums.learning_reserved})::bigint
      end as capacity_left_microusd
    from projects where id = ${projectId}
  `.execute(trx);
  const [limits] = rows;
  if (limits === undefined) throw new Error(`project ${projectId} does not exist`);
  const { spending_left_microusd, capacity_left_microusd } = limits;
  if (spending_left_microusd !== null && spending_left_microusd < 0) {
    return { kind: 'spending_limit_reached', left_microusd: spending_left_microusd };
  }
  if (capacity_left_microusd !== null && capacity_left_microusd < 0) {
    return { kind: 'monthly_capacity_reached', left_microusd: capacity_left_microusd };
  }
  return { kind: 'within_limits' };
}
