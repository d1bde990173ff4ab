import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { accountId, lockBalance } from './accounts.js';
import { assertAmount } from './amount.js';

export interface JobRefund {
  readonly job_id: string;
  /** More than zero. All that the job was charged, if left out. */
  readonly amount_microusd?: number;
  readonly memo: string;
}

export type RefundJobOutcome =
  | { readonly kind: 'refunded'; readonly project_id: string; readonly refunded_microusd: number }
  /** By an earlier refund of this job. There is only one. */
  | { readonly kind: 'refunded_before'; readonly project_id: string; readonly refunded_microusd: number }
  | { readonly kind: 'above_charge'; readonly charged_microusd: number }
  /** Or it is archived. */
  | { readonly kind: 'not_found' };

/**
 * Gives back what a job was charged, or a part of it: spent → available, once for each job. An open job, and one that
 * cost nothing, were charged 0.
 */
export async function refundJob(db: Kysely<Database>, refund: JobRefund): Promise<RefundJobOutcome> {
  if (refund.amount_microusd !== undefined) assertAmount(refund.amount_microusd);
  return inTransaction<RefundJobOutcome>(db, 'credit.refunded', async (trx) => {
    const job = await trx
      .selectFrom('jobs')
      .select(['project_id', 'charged_microusd', 'settled'])
      .where('id', '=', refund.job_id)
      // It is waited for, if it is being archived.
      .modifyEnd(sql`for key share`)
      .executeTakeFirst();
    if (job === undefined) return { kind: 'not_found' };
    const { project_id } = job;
    // Two refunds of one job take turns here.
    await lockBalance(trx, project_id);
    const earlier = await trx
      .selectFrom('transfers')
      .select('amount_microusd')
      .where('job_id', '=', refund.job_id)
      .where('kind', '=', 'refund')
      .executeTakeFirst();
    if (earlier !== undefined)
      return { kind: 'refunded_before', project_id, refunded_microusd: earlier.amount_microusd };
    const chargedMicrousd = job.settled ? job.charged_microusd : 0;
    const amountMicrousd = refund.amount_microusd ?? chargedMicrousd;
    if (amountMicrousd > chargedMicrousd || amountMicrousd === 0) {
      return { kind: 'above_charge', charged_microusd: chargedMicrousd };
    }
    await trx
      .insertInto('transfers')
      .values({
        kind: 'refund',
        from_account: accountId('spent', project_id),
        to_account: accountId('available', project_id),
        amount_microusd: amountMicrousd,
        job_id: refund.job_id,
        memo: refund.memo,
      })
      .execute();
    return { kind: 'refunded', project_id, refunded_microusd: amountMicrousd };
  });
}

export interface HostingRefund {
  readonly project_id: string;
  /** Days of this version alone. Of all the project's versions, if left out. */
  readonly version_id?: string;
  /** Days that were charged at this time or later, by the clock that the database had then. */
  readonly charged_since: Date;
  readonly memo: string;
}

export interface RefundedDays {
  readonly days: number;
  readonly refunded_microusd: number;
}

/** One transaction takes so many days. */
const maxDaysAtOnce = 1_000;

/**
 * Gives back what days of hosting were charged: spent → available, once for each day. A day that was refunded stays
 * paid, and is not charged again. Takes some days and returns them; none are left when it returns 0 days.
 */
export async function refundHosting(db: Kysely<Database>, refund: HostingRefund): Promise<RefundedDays> {
  return inTransaction<RefundedDays>(db, 'credit.refunded', async (trx) => {
    await lockBalance(trx, refund.project_id);
    const days = await daysToRefund(trx, refund);
    if (days.length === 0) return { days: 0, refunded_microusd: 0 };
    const { project_id, memo } = refund;
    const [spent, available] = [accountId('spent', project_id), accountId('available', project_id)];
    await trx
      .insertInto('transfers')
      .values(days.map((day) => ({ ...day, kind: 'refund', from_account: spent, to_account: available, memo })))
      .execute();
    return { days: days.length, refunded_microusd: days.reduce((sum, day) => sum + day.amount_microusd, 0) };
  });
}

/** The oldest charges first. */
function daysToRefund(trx: Transaction<Database>, { project_id, version_id, charged_since }: HostingRefund) {
  return (
    trx
      .selectFrom('transfers as charge')
      .select(['version_id', 'hosting_day', 'amount_microusd'])
      .where('to_account', '=', accountId('spent', project_id))
      .where('kind', '=', 'hosting')
      .where('created_at', '>=', charged_since)
      // Transfers from before hosting named its days cannot be refunded.
      .where('hosting_day', 'is not', null)
      .$if(version_id !== undefined, (query) => query.where('version_id', '=', version_id ?? ''))
      .where((charge) =>
        charge.not(
          charge.exists(
            charge
              .selectFrom('transfers as refund')
              .select(sql`1`.as('one'))
              .whereRef('refund.version_id', '=', 'charge.version_id')
              .whereRef('refund.hosting_day', '=', 'charge.hosting_day')
              .where('refund.kind', '=', 'refund'),
          ),
        ),
      )
      .orderBy('charge.id')
      .limit(maxDaysAtOnce)
      .execute()
  );
}
