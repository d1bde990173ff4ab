import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { readSpending } from '../console/spending.js';
import { readBalance } from '../ledger/accounts.js';
import { grantCredit } from '../ledger/grantCredit.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { makeOldJob, type OldJob } from '../testing/oldJob.js';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { archiveEndedJobs } from './archiveEndedJobs.js';
import { verifyArchives } from './verifyArchives.js';

let database: TestDatabase;
let folder: string;
before(async () => {
  database = await openTestDatabase({ maxConnections: 4, durable: false });
  folder = await mkdtemp(path.join(tmpdir(), 'engraft-archived-'));
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const afterMonths = 3;
const months = fc.integer({ min: 0, max: 7 });
/** Whole hundredths: nearly all random doubles are too small to be a share of anything. */
const percent = fc.integer({ min: 0, max: 100 });
const history = fc.array(
  fc.record({
    ofFirst: fc.boolean(),
    isLearning: fc.boolean(),
    isReadable: fc.boolean(),
    endedMonthsAgo: months,
    lastedMonths: fc.integer({ min: 0, max: 2 }),
    reserved_microusd: fc.integer({ min: 1, max: 1_000 }),
    chargedPercent: percent,
    refund: fc.option(fc.record({ monthsLater: fc.integer({ min: 0, max: 7 }), percent })),
  }),
  { maxLength: 8 },
);

type Step = (typeof history extends fc.Arbitrary<(infer Each)[]> ? Each : never) & object;

function toOldJob(step: Step): OldJob {
  const { isLearning, isReadable, endedMonthsAgo, lastedMonths, reserved_microusd, chargedPercent, refund } = step;
  const chargedMicrousd = Math.floor((reserved_microusd * chargedPercent) / 100);
  const refunded = refund === null ? 0 : Math.floor((chargedMicrousd * refund.percent) / 100);
  const monthsAgo = Math.max(0, endedMonthsAgo - (refund?.monthsLater ?? 0));
  return {
    kind: isLearning ? 'internalization' : 'inference',
    isReadable,
    endedMonthsAgo,
    admittedMonthsAgo: endedMonthsAgo + lastedMonths,
    reserved_microusd,
    charged_microusd: chargedMicrousd,
    ...(refunded === 0 ? {} : { refund: { monthsAgo, amount_microusd: refunded } }),
  };
}

/** A job that ended long ago and can be archived. */
const old = (ofFirst: boolean): Step => ({
  ofFirst,
  isLearning: ofFirst,
  isReadable: false,
  endedMonthsAgo: 6,
  lastedMonths: 1,
  reserved_microusd: 900,
  chargedPercent: 50,
  refund: { monthsLater: 1, percent: 30 },
});

const isDue = ({ isReadable, endedMonthsAgo, refund }: OldJob): boolean =>
  isReadable !== true && endedMonthsAgo > afterMonths && (refund?.monthsAgo ?? Infinity) > afterMonths;

/** All that callers, members and operators see of the projects' money. */
async function readMoney(keys: readonly TestKey[]) {
  const { db } = database;
  const projects = [];
  for (const { project_id } of keys) {
    const { rows } = await sql`select to_char(month, 'YYYY-MM') as month, spent_microusd, learning_microusd
      from monthly_spending where project_id = ${project_id} order by month`.execute(db);
    projects.push({
      balance: await readBalance(db, project_id),
      months: rows,
      byKind: await readSpending(db, project_id, { by: 'kind', days: '90' }),
      byKey: await readSpending(db, project_id, { by: 'key', days: '90' }),
    });
  }
  return { projects, differences: (await verifyLedger(db)).differences };
}

async function jobsOf(keys: readonly TestKey[]): Promise<string[]> {
  const projects = keys.map(({ project_id }) => project_id);
  const rows = await database.db.selectFrom('jobs').select('id').where('project_id', 'in', projects).execute();
  return rows.map(({ id }) => id).sort();
}

test('after any history, archiving changes no balance, no sum, no chart and no finding of the ledger', async () => {
  const { db } = database;
  let archived = 0;
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 3 }), async (steps, jobsPerFile) => {
      const first = await createTestKey(db, await createTestProject(db, 100_000));
      const second = await createTestKey(db, await createTestProject(db, 100_000));
      const staying: string[] = [];
      for (const step of steps) {
        const job = toOldJob(step);
        const id = await makeOldJob(db, step.ofFirst ? first : second, job);
        if (!isDue(job)) staying.push(id);
      }
      const money = await readMoney([first, second]);
      assert.deepEqual(money.differences, []);
      const moved = await archiveEndedJobs(db, { folder, afterMonths, jobsPerFile });
      assert.equal(moved, steps.length - staying.length);
      assert.deepEqual(await readMoney([first, second]), money);
      assert.deepEqual(await jobsOf([first, second]), staying.sort());
      archived += moved;

      // Later transfers are added to these sums.
      const { project_id } = first;
      await grantCredit(db, { project_id, amount_microusd: 7, memo: 'test' });
      await makeOldJob(db, first, { endedMonthsAgo: 0, reserved_microusd: 50, charged_microusd: 20 });
      const { available_microusd, spent_microusd } = money.projects[0]?.balance ?? {};
      const balance = await readBalance(db, project_id);
      assert.deepEqual(
        [balance.available_microusd, balance.reserved_microusd, balance.spent_microusd],
        [(available_microusd ?? 0) + 7 - 20, 0, (spent_microusd ?? 0) + 20],
      );
      assert.deepEqual((await verifyLedger(db)).differences, []);
    }),
    // Random histories may all be short and recent.
    { numRuns: 30, examples: [[[old(true), old(false), old(true)], 2]] },
  );
  assert.ok(archived >= 3, 'some histories had jobs to archive');
  const report = await verifyArchives(db, folder);
  assert.deepEqual([report.differences, report.jobs], [[], archived]);
});
