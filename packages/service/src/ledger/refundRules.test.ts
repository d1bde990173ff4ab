import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import {
  account,
  close,
  hostingOf,
  insertTransfer,
  open,
  ours,
  type Party,
  refusalOf,
  theirs,
  type TransferRow,
} from '../testing/ledgerRulesTest.js';

before(open);
after(close);

describe('a refund of more than was charged is refused, whoever writes it', () => {
  const refund = { kind: 'refund', amount_microusd: 7 } as const;
  const back = (party: Party) => ({ from_account: account('spent', party), to_account: account('available', party) });

  test('of a job: above its charge, a second time, of one that is open, or of another project', async () => {
    const ofJob = { ...refund, ...back(ours), job_id: ours.version.job_id };
    assert.equal(await refusalOf(insertTransfer({ ...ofJob, amount_microusd: 1_000_000 })), null);
    const tooMuch = async (trx: Kysely<Database>) => {
      // Otherwise no more than that would have been spent in all.
      await insertTransfer(hostingOf(ours, 8))(trx);
      await insertTransfer({ ...ofJob, amount_microusd: 1_000_001 })(trx);
    };
    assert.match((await refusalOf(tooMuch)) ?? '', /was charged 1000000 micro-USD; 1000001 are refunded/);
    const twice = async (trx: Kysely<Database>) => {
      for (let count = 0; count < 2; count += 1) await insertTransfer(ofJob)(trx);
    };
    assert.match((await refusalOf(twice)) ?? '', /transfers_once_per_job/);
    const ofOpenJob = insertTransfer({ ...ofJob, job_id: ours.jobs[0] });
    assert.match((await refusalOf(ofOpenJob)) ?? '', /was charged 0 micro-USD; 7 are refunded/);
    const ofTheirs = insertTransfer({ ...ofJob, job_id: theirs.version.job_id });
    assert.match((await refusalOf(ofTheirs)) ?? '', /has transfers of another project/);
  });

  test('of hosting: of a day that was not charged, above its charge, a second time, or of another project', async () => {
    const charge = hostingOf(ours, 9);
    const refundAfterCharge =
      (...refunds: readonly Partial<TransferRow>[]) =>
      async (trx: Kysely<Database>) => {
        for (const row of [charge, ...refunds]) await insertTransfer(row)(trx);
      };
    const ofDay = { ...charge, ...refund, ...back(ours) };
    assert.equal(await refusalOf(refundAfterCharge(ofDay)), null);
    const tooMuch = /is more than it was charged for that day/;
    assert.match((await refusalOf(insertTransfer(ofDay))) ?? '', tooMuch);
    assert.match((await refusalOf(refundAfterCharge({ ...ofDay, amount_microusd: 8 }))) ?? '', tooMuch);
    assert.match((await refusalOf(refundAfterCharge({ ...ofDay, ...back(theirs) }))) ?? '', tooMuch);
    assert.match((await refusalOf(refundAfterCharge(ofDay, ofDay))) ?? '', /transfers_once_per_hosting_day/);
  });

  test('of nothing, or of both', async () => {
    const ofNothing = insertTransfer({ ...refund, ...back(ours) });
    assert.match((await refusalOf(ofNothing)) ?? '', /transfers_name_their_job/);
    const { id, job_id } = ours.version;
    const ofBoth = insertTransfer({ ...refund, ...back(ours), version_id: id, hosting_day: 9, job_id });
    assert.match((await refusalOf(ofBoth)) ?? '', /transfers_name_their_job/);
  });
});
