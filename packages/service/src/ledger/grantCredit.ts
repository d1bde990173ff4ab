import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction, RolledBack } from '../db/transaction.js';
import { accountId, issuedAccount } from './accounts.js';
import { assertAmount } from './amount.js';

export interface CreditGrant {
  readonly project_id: string;
  /** More than zero. */
  readonly amount_microusd: number;
  readonly memo: string;
}

export type GrantCreditOutcome =
  | { readonly kind: 'granted' }
  /**
   * All that the project ever had, or all that was ever issued, would be more micro-USD than a number holds exactly.
   */
  | { readonly kind: 'too_much' };

/** Credit that an operator gives to a project: issued → available. What does not fit changes nothing. */
export async function grantCredit(db: Kysely<Database>, grant: CreditGrant): Promise<GrantCreditOutcome> {
  assertAmount(grant.amount_microusd);
  return inTransaction<GrantCreditOutcome>(db, 'credit.granted', async (trx) => {
    await trx
      .insertInto('transfers')
      .values({
        kind: 'grant',
        from_account: issuedAccount,
        to_account: accountId('available', grant.project_id),
        amount_microusd: grant.amount_microusd,
        memo: grant.memo,
      })
      .execute();
    // Only a grant adds to the sum of a project's accounts, so that none of them ever passes what this allows.
    const { fits } = await trx
      .selectFrom((from) =>
        from
          .selectFrom('accounts')
          .select(sql<number>`sum(balance_microusd)`.as('total'))
          .where((eb) => eb.or([eb('project_id', '=', grant.project_id), eb('id', '=', issuedAccount)]))
          .groupBy('project_id')
          .as('totals'),
      )
      .select(sql<boolean>`max(abs(total)) <= ${Number.MAX_SAFE_INTEGER}::bigint`.as('fits'))
      .executeTakeFirstOrThrow();
    return fits ? { kind: 'granted' } : new RolledBack<GrantCreditOutcome>({ kind: 'too_much' });
  });
}
