import type { Kysely, Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Database } from '../db/schema.js';
import { grantCredit } from '../ledger/grantCredit.js';
import type { PaidOrder } from './payments.js';

export type BookPurchaseOutcome =
  | { readonly kind: 'booked' }
  /** This event, or another that told of the same payment, came before. */
  | { readonly kind: 'booked_before' }
  | { readonly kind: 'unknown_project' }
  /** See `GrantCreditOutcome`. */
  | { readonly kind: 'too_much' };

/** Credit that was paid for, as a grant: once for each payment, however often it is told, by several at once, too. */
export async function bookPurchase(db: Kysely<Database>, order: PaidOrder): Promise<BookPurchaseOutcome> {
  const { checkout_id, project_id, member_id, amount_microusd } = order;
  const buyer = await db.selectFrom('members').select('email').where('id', '=', member_id).executeTakeFirst();
  const operator = { actor: buyer?.email ?? member_id, account: 'Stripe', reason: null };
  return audited<BookPurchaseOutcome>(
    db,
    operator,
    async (trx) => {
      if (!(await isProject(trx, project_id))) return { kind: 'unknown_project' };
      if (!(await recordPurchase(trx, order))) return { kind: 'booked_before' };
      const memo = `bought through Stripe, ${checkout_id}`;
      const { kind } = await grantCredit(trx, { project_id, amount_microusd, memo });
      return kind === 'granted' ? { kind: 'booked' } : { kind };
    },
    ({ kind }) =>
      kind === 'booked'
        ? { action: 'credit.purchase', project_id, target: project_id, details: { amount_microusd, checkout_id } }
        : null,
  );
}

async function isProject(trx: Transaction<Database>, projectId: string): Promise<boolean> {
  return (await trx.selectFrom('projects').select('id').where('id', '=', projectId).executeTakeFirst()) !== undefined;
}

/** `false` if it is recorded. Whoever tells of the same payment at the same moment waits here. */
async function recordPurchase(trx: Transaction<Database>, order: PaidOrder): Promise<boolean> {
  const { checkout_id, event_id, project_id, amount_microusd } = order;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('credit_purchases')
    .values({ checkout_id, event_id, project_id, amount_microusd })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
