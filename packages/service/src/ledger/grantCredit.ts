import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId, issuedAccount } from './accounts.js';
import { assertAmount } from './amount.js';

export interface CreditGrant {
  readonly project_id: string;
  /** More than zero. */
  readonly amount_microusd: number;
  readonly memo: string;
}

/** Credit that an operator gives to a project: issued → available. */
export async function grantCredit(db: Kysely<Database>, grant: CreditGrant): Promise<void> {
  assertAmount(grant.amount_microusd);
  await db
    .insertInto('transfers')
    .values({
      kind: 'grant',
      from_account: issuedAccount,
      to_account: accountId('available', grant.project_id),
      amount_microusd: grant.amount_microusd,
      memo: grant.memo,
    })
    .execute();
}
