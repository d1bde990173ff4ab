import type { Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId, lockBalance } from './accounts.js';
import { assertAmount } from './amount.js';

export interface Reservation {
  readonly project_id: string;
  /** The job must already have its row. */
  readonly job_id: string;
  /** More than zero. */
  readonly amount_microusd: number;
}

export type ReserveOutcome =
  { readonly kind: 'reserved' } | { readonly kind: 'insufficient_credits'; readonly left_microusd: number };

/**
 * Holds money for a job: available → reserved, once for each job. The balance is locked before it is compared, so that
 * two reservations never spend the same credit. Too little credit is an outcome, not an aborted transaction.
 */
export async function reserve(trx: Transaction<Database>, reservation: Reservation): Promise<ReserveOutcome> {
  const { project_id, job_id, amount_microusd } = reservation;
  assertAmount(amount_microusd);
  const balance = await lockBalance(trx, project_id);
  if (balance.available_microusd < amount_microusd) {
    return { kind: 'insufficient_credits', left_microusd: balance.available_microusd };
  }
  await trx
    .insertInto('transfers')
    .values({
      kind: 'reserve',
      from_account: accountId('available', project_id),
      to_account: accountId('reserved', project_id),
      amount_microusd,
      job_id,
    })
    .execute();
  return { kind: 'reserved' };
}
