import type { Transaction } from 'kysely';
import type { TransferKind } from '../db/ledgerTables.js';
import type { Database } from '../db/schema.js';
import { accountId, lockBalance } from './accounts.js';

export interface Settlement {
  readonly project_id: string;
  readonly job_id: string;
  /** From 0 up to the reservation. */
  readonly charged_microusd: number;
  /** Why it was settled this way, if the job did not end by itself. */
  readonly memo?: string;
}

/**
 * Ends a job's reservation. Its cost goes reserved → spent, and the rest goes back reserved → available. An amount of
 * zero makes no transfer. Throws if the job has no reservation, if the charge is above it, or (by the unique index on
 * transfers) if it was settled before. The caller's transaction must not survive any of these.
 */
export async function settleReservation(trx: Transaction<Database>, settlement: Settlement): Promise<void> {
  const { project_id, job_id, charged_microusd, memo = null } = settlement;
  // Locks the balance before anything else, in the one order of locks. See `lockBalance`.
  await lockBalance(trx, project_id);
  const transfers = await trx
    .selectFrom('transfers')
    .select(['kind', 'from_account', 'amount_microusd'])
    .where('job_id', '=', job_id)
    .execute();
  const [reservation] = transfers;
  if (transfers.length !== 1 || reservation?.from_account !== accountId('available', project_id)) {
    throw new Error(`job ${job_id} has no open reservation in project ${project_id}`);
  }
  const reservedMicrousd = reservation.amount_microusd;
  if (!Number.isSafeInteger(charged_microusd) || charged_microusd < 0 || charged_microusd > reservedMicrousd) {
    throw new RangeError(
      `job ${job_id} reserved ${reservedMicrousd} micro-USD and cannot be charged ${charged_microusd}`,
    );
  }
  const reserved = accountId('reserved', project_id);
  const move = (kind: TransferKind, toAccount: string, amountMicrousd: number) => ({
    kind,
    from_account: reserved,
    to_account: toAccount,
    amount_microusd: amountMicrousd,
    job_id,
    memo,
  });
  const moves = [
    move('post', accountId('spent', project_id), charged_microusd),
    move('void', accountId('available', project_id), reservedMicrousd - charged_microusd),
  ].filter(({ amount_microusd }) => amount_microusd > 0);
  await trx.insertInto('transfers').values(moves).execute();
}
