import type { JobKind } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { TransferKind } from '../db/ledgerTables.js';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { newId } from '../ids.js';
import { accountId } from '../ledger/accounts.js';
import type { TestKey } from './testApp.js';

export interface OldJob {
  /** How many calendar months (UTC) ago it ended. 0 is the present one. */
  readonly endedMonthsAgo: number;
  /** The default is the month in which it ended. */
  readonly admittedMonthsAgo?: number;
  readonly reserved_microusd: number;
  readonly charged_microusd: number;
  readonly kind?: JobKind;
  /** Given back, so many months ago. */
  readonly refund?: { readonly monthsAgo: number; readonly amount_microusd: number };
  /** Callers can still read it. */
  readonly isReadable?: boolean;
}

/** On the tenth day of a month, or now where that is later. */
const inMonth = (monthsAgo: number) => sql<Date>`least(now(), (date_trunc('month', now() at time zone 'utc')
  - ${monthsAgo} * interval '1 month' + interval '9 days') at time zone 'utc')`;

/** Makes a job that ended long ago, with its transfers, by the rules of the database. Returns its id. */
export async function makeOldJob(db: Kysely<Database>, key: TestKey, job: OldJob): Promise<string> {
  const { project_id } = key;
  const id = newId('job');
  const { endedMonthsAgo, admittedMonthsAgo = endedMonthsAgo, reserved_microusd, charged_microusd, refund } = job;
  const [available, reserved, spent] = (['available', 'reserved', 'spent'] as const).map((kind) =>
    accountId(kind, project_id),
  ) as [string, string, string];
  await inTransaction(db, null, async (trx) => {
    await trx
      .insertInto('jobs')
      .values({
        id,
        project_id,
        tenant_id: 'northwind',
        subject_name: 'hannelore',
        api_key_id: key.id,
        kind: job.kind ?? 'inference',
        status: 'succeeded',
        phase: 'done',
        adapter_version: 'base',
        request: 'null',
        pricing_version: 'test',
        reserved_microusd,
        compute_microusd: charged_microusd,
        settled: true,
        error_code: null,
        created_at: inMonth(admittedMonthsAgo),
        updated_at: inMonth(endedMonthsAgo),
        forgotten_at: job.isReadable === true ? null : inMonth(endedMonthsAgo),
      })
      .execute();
    const move = async (kind: TransferKind, from: string, to: string, amountMicrousd: number, monthsAgo: number) => {
      if (amountMicrousd === 0) return;
      const accounts = { from_account: from, to_account: to, amount_microusd: amountMicrousd };
      const transfer = { kind, ...accounts, job_id: id, created_at: inMonth(monthsAgo) };
      await trx.insertInto('transfers').values(transfer).execute();
    };
    await move('reserve', available, reserved, reserved_microusd, admittedMonthsAgo);
    await move('post', reserved, spent, charged_microusd, endedMonthsAgo);
    await move('void', reserved, available, reserved_microusd - charged_microusd, endedMonthsAgo);
    if (refund !== undefined) await move('refund', spent, available, refund.amount_microusd, refund.monthsAgo);
  });
  return id;
}

/** The month so many months ago, as `YYYY-MM` (UTC). */
export function monthAgo(monthsAgo: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)).toISOString().slice(0, 7);
}
