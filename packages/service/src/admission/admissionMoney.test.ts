import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { inTransaction } from '../db/transaction.js';
import { readBalance } from '../ledger/accounts.js';
import { refundJob } from '../ledger/refund.js';
import { setProject } from '../projects/setProject.js';
import { type TestKey } from '../testing/testApp.js';
import {
  database,
  questionMicrousd,
  passage,
  operation,
  newKey,
  admit,
  admitted,
  assertRefused,
  settle,
  open,
  close,
} from '../testing/admissionTest.js';

before(open);
after(close);

describe('money', () => {
  test('402 `insufficient_credits`: "available balance below the reservation"; the exact amount is enough', async () => {
    const key = await newKey(questionMicrousd);
    await admitted(operation(key));
    await assertRefused('insufficient_credits', operation(key));
  });

  test('simultaneous requests never overdraw', async () => {
    const key = await newKey(questionMicrousd * 5);
    const outcomes = await Promise.all(Array.from({ length: 16 }, () => admit(operation(key))));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 5);
    assert.equal((await readBalance(database.db, key.project_id)).available_microusd, 0);
  });

  test('402 `spending_limit_reached`: "project\'s monthly spending limit would be passed"', async () => {
    const key = await newKey();
    await setProject(database.db, key.project_id, { monthly_spending_limit_microusd: questionMicrousd * 3 });
    const first = await admitted(operation(key));
    await admitted(operation(key));
    await settle(key, first, questionMicrousd);
    // One is spent and one reserved; a third reaches the limit, and a fourth would pass it.
    const third = await admitted(operation(key));
    const code = 'spending_limit_reached';
    const short = { kind: 'refused', code, needed_microusd: questionMicrousd, left_microusd: 0 };
    assert.deepEqual(await admit(operation(key)), short);
    // Money that a settlement gives back may be spent again.
    await settle(key, third, 0);
    await admitted(operation(key));
  });

  test('what was refunded this month may be spent again', async () => {
    const key = await newKey();
    const first = await admitted(operation(key));
    await settle(key, first, questionMicrousd);
    await setProject(database.db, key.project_id, { monthly_spending_limit_microusd: questionMicrousd });
    await assertRefused('spending_limit_reached', operation(key));
    await refundJob(database.db, { job_id: first, memo: 'test' });
    await admitted(operation(key));
    await assertRefused('spending_limit_reached', operation(key));
  });

  test('the limit is of "this calendar month UTC"', async () => {
    const key = await newKey();
    await settle(key, await admitted(operation(key)), questionMicrousd);
    await setProject(database.db, key.project_id, { monthly_spending_limit_microusd: questionMicrousd });
    await assertRefused('spending_limit_reached', operation(key));
    await moveTransfers(key, "date_trunc('month', now() at time zone 'utc') at time zone 'utc' - interval '1 second'");
    await admitted(operation(key));
  });

  test('simultaneous requests do not pass the limit together', async () => {
    const key = await newKey();
    await setProject(database.db, key.project_id, { monthly_spending_limit_microusd: questionMicrousd * 4 });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => admit(operation(key))));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 4);
  });

  test('402 `monthly_capacity_reached`: "project\'s monthly learning capacity would be passed", by learning alone', async () => {
    const key = await newKey();
    await setProject(database.db, key.project_id, { monthly_learning_capacity_microusd: 2_500_000 });
    const first = await admitted(operation(key, { request: passage }));
    await settle(key, first, 700_000);
    await admitted(operation(key, { request: passage }));
    // 700,000 are charged and 1,000,000 reserved: 800,000 are left.
    const { max_cost_microusd: neededMicrousd } = passage;
    const code = 'monthly_capacity_reached';
    const short = { kind: 'refused', code, needed_microusd: neededMicrousd, left_microusd: 800_000 };
    assert.deepEqual(await admit(operation(key, { request: passage })), short);
    await admitted(operation(key, { request: { ...passage, max_cost_microusd: 800_000 } }));
    await admitted(operation(key));
    // An operator who wants no more learning this month stops nothing else.
    await setProject(database.db, key.project_id, { monthly_learning_capacity_microusd: 0 });
    await assertRefused('monthly_capacity_reached', operation(key, { request: passage }));
    await admitted(operation(key));
  });

  /** Dates a project's spending otherwise, past the guard that keeps transfers as they are. */
  async function moveTransfers(key: TestKey, createdAt: string): Promise<void> {
    await inTransaction(database.owner, null, async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`update transfers set created_at = ${sql.raw(createdAt)} where to_account = ${`spent:${key.project_id}`}`.execute(
        trx,
      );
      const month = sql`date_trunc('month', (${sql.raw(createdAt)}) at time zone 'utc')`;
      await sql`update monthly_spending set month = ${month} where project_id = ${key.project_id}`.execute(trx);
    });
  }
});
