import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction, RolledBack } from '../db/transaction.js';
import {
  account,
  close,
  database,
  insertTransfer,
  makeParty,
  open,
  ours,
  owner,
  type Party,
  refusalOf,
  reservedMicrousd,
  theirs,
  type TransferRow,
} from '../testing/ledgerRulesTest.js';
import { verifyLedger } from './verifyLedger.js';

before(open);
after(close);

describe('a transfer that breaks a rule is refused, whoever writes it', () => {
  test('"a grant from `available` to `spent`"', async () => {
    const grant = {
      kind: 'grant',
      from_account: account('available', ours),
      to_account: account('spent', ours),
    } as const;
    assert.match((await refusalOf(insertTransfer(grant))) ?? '', /transfers_between_the_kinds_of_their_kind/);
  });

  test('one between two projects', async () => {
    const hosting = {
      kind: 'hosting',
      from_account: account('available', ours),
      to_account: account('spent', theirs),
      version_id: ours.version.id,
    } as const;
    assert.match((await refusalOf(insertTransfer(hosting))) ?? '', /transfers_within_one_project/);
  });

  test('hosting of no version, or of a version of another project; a version with any other kind', async () => {
    const [fromAccount, toAccount] = [account('available', ours), account('spent', ours)];
    const hosting = { kind: 'hosting', from_account: fromAccount, to_account: toAccount } as const;
    assert.match((await refusalOf(insertTransfer(hosting))) ?? '', /transfers_name_the_version_they_host/);
    const ofTheirs = { ...hosting, version_id: theirs.version.id };
    assert.match((await refusalOf(insertTransfer(ofTheirs))) ?? '', /which is not of its project/);
    const grant = { kind: 'grant', to_account: fromAccount, version_id: ours.version.id } as const;
    assert.match((await refusalOf(insertTransfer(grant))) ?? '', /transfers_name_the_version_they_host/);
    assert.equal(await refusalOf(insertTransfer({ ...hosting, version_id: ours.version.id })), null);
  });

  test('a reservation of a job by another project, or of another amount than the job records', async () => {
    const newJob = (trx: Kysely<Database>) => copyJob(trx, ours.jobs[0], 'job_copied');
    const reserve = (party: Party, amountMicrousd: number) => async (trx: Kysely<Database>) => {
      await newJob(trx);
      const [fromAccount, toAccount] = [account('available', party), account('reserved', party)];
      await insertTransfer({
        kind: 'reserve',
        from_account: fromAccount,
        to_account: toAccount,
        amount_microusd: amountMicrousd,
        job_id: 'job_copied',
      })(trx);
    };
    assert.match((await refusalOf(reserve(theirs, reservedMicrousd))) ?? '', /has transfers of another project/);
    assert.match((await refusalOf(reserve(ours, 5))) ?? '', /records a reservation of 1000000 micro-USD; .* moves 5$/);
    assert.match((await refusalOf(newJob)) ?? '', /has no reservation/);
    assert.equal(await refusalOf(reserve(ours, reservedMicrousd)), null);
  });

  test('a post or void of a job that has no reservation, or is not done', async () => {
    const post = { kind: 'post', from_account: account('reserved', ours), to_account: account('spent', ours) } as const;
    assert.match(
      (await refusalOf(insertTransfer({ ...post, job_id: ours.jobs[0] }))) ?? '',
      /is not settled, but 1 micro-USD leave its reservation/,
    );
    const unreserved = async (trx: Kysely<Database>) => {
      await copyJob(trx, ours.jobs[0], 'job_copied');
      await insertTransfer({ ...post, job_id: 'job_copied' })(trx);
    };
    assert.match((await refusalOf(unreserved)) ?? '', /has no reservation/);
    // Its own reservation is spent; what another job holds is not.
    const void_ = {
      ...post,
      kind: 'void',
      to_account: account('available', ours),
      job_id: ours.version.job_id,
    } as const;
    assert.match(
      (await refusalOf(insertTransfer(void_))) ?? '',
      /reserved 1000000 micro-USD; 1000000 are posted and 1 voided/,
    );
  });
});

async function copyJob(trx: Kysely<Database>, from: string, id: string): Promise<void> {
  await sql`
    insert into jobs (id, project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, request, pricing_version,
                      reserved_microusd)
    select ${id}, project_id, subject_ref, subject_name, api_key_id, kind, adapter_version, request, pricing_version,
           reserved_microusd from jobs where id = ${from}`.execute(trx);
}

describe('an account', () => {
  test('"inserted with a balance" is refused', async () => {
    const insert = (balanceMicrousd: number) => (trx: Kysely<Database>) =>
      sql`
        with project as (insert into projects (id, name) values ('prj_new', 'new') returning id)
        insert into accounts (id, kind, project_id, balance_microusd)
        select 'spent:' || id, 'spent', id, ${balanceMicrousd} from project`.execute(trx);
    assert.match((await refusalOf(insert(5))) ?? '', /an account begins empty/);
    assert.equal(await refusalOf(insert(0)), null);
  });

  test('is named by its kind and project, keeps all three, and stays', async () => {
    const misnamed = sql`
      with project as (insert into projects (id, name) values ('prj_new', 'new') returning id)
      insert into accounts (id, kind, project_id) select 'available:' || id, 'spent', id from project`;
    assert.match((await refusalOf((trx) => misnamed.execute(trx))) ?? '', /accounts_named_by_kind_and_project/);
    for (const change of ["id = 'x'", "kind = 'spent'", 'project_id = null'])
      assert.match(
        (await refusalOf((trx) => sql`update accounts set ${sql.raw(change)}`.execute(trx))) ?? '',
        /an account keeps its id, kind and project/,
      );
    for (const removal of ['delete from accounts', 'truncate accounts, transfers'])
      assert.match((await refusalOf((trx) => sql.raw(removal).execute(trx))) ?? '', /never deleted|immutable/);
  });
});

describe('"There is no moment at which a job is done and not charged, or charged and not done"', () => {
  /** Ways in which a transaction might end the job: what it posts and voids, and what the job's row then says. */
  const ending = fc.record({
    post: fc.option(fc.constantFrom(0, 1, 400_000, 600_000, reservedMicrousd)),
    void_: fc.option(fc.constantFrom(0, 1, 400_000, 600_000, reservedMicrousd)),
    charged: fc.constantFrom(0, 1, 400_000, 600_000, reservedMicrousd),
    settled: fc.boolean(),
  });

  test('a job settles in full, for what it is charged, or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(ending, async ({ post, void_, charged, settled }) => {
        const [posted, voided] = [post ?? 0, void_ ?? 0];
        const refusal = await refusalOf(async (trx) => {
          const move = { from_account: account('reserved', ours), job_id: ours.jobs[0] };
          const moves: Partial<TransferRow>[] = [
            { ...move, kind: 'post', to_account: account('spent', ours), amount_microusd: posted },
            { ...move, kind: 'void', to_account: account('available', ours), amount_microusd: voided },
          ];
          for (const each of moves) if (each.amount_microusd !== 0) await insertTransfer(each)(trx);
          const status = settled ? ('succeeded' as const) : ('running' as const);
          const update = trx.updateTable('jobs').set({ status, settled, compute_microusd: charged });
          await update.where('id', '=', ours.jobs[0]).execute();
        });
        const agrees = settled
          ? posted === charged && posted + voided === reservedMicrousd
          : // What a job that is not done was charged so far is nobody's money yet.
            posted + voided === 0;
        assert.equal(refusal === null, agrees, refusal ?? 'it passed');
      }),
      { numRuns: 200 },
    );
  });

  test('what is settled stays as it was charged', async () => {
    const change = (column: 'compute_microusd' | 'reserved_microusd') => (trx: Kysely<Database>) =>
      sql`update jobs set ${sql.ref(column)} = ${sql.ref(column)} - 1 where id = ${ours.version.job_id}`.execute(trx);
    assert.match(
      (await refusalOf(change('compute_microusd'))) ?? '',
      /is charged 999999 micro-USD; 1000000 are posted/,
    );
    const { version } = ours;
    const reopened = sql`update jobs set status = 'running', settled = false where id = ${version.job_id}`;
    assert.match(
      (await refusalOf((trx) => reopened.execute(trx))) ?? '',
      /is not settled, but 1000000 micro-USD leave/,
    );
  });
});

test('of random transfers, the database commits those alone in which `engraft ledger verify` finds no fault', async () => {
  const parties = [ours, theirs];
  const accounts = [
    'issued',
    ...parties.flatMap((party) => (['available', 'reserved', 'spent'] as const).map((kind) => account(kind, party))),
  ];
  const row: fc.Arbitrary<TransferRow> = fc.record({
    kind: fc.constantFrom('grant', 'reserve', 'post', 'void', 'hosting', 'refund'),
    from_account: fc.constantFrom(...accounts),
    to_account: fc.constantFrom(...accounts),
    amount_microusd: fc.constantFrom(-1, 0, 1, 1_000),
    job_id: fc.constantFrom(null, ...parties.flatMap(({ jobs }) => jobs)),
    version_id: fc.constantFrom(null, ...parties.map(({ version }) => version.id)),
    hosting_day: fc.constant(null),
  });
  // Not day 1, by which the database names that of a row without one.
  const day = fc.integer({ min: 2, max: 60 });
  const dayMicrousd = 7;
  const paidDays = new Set<string>();
  const refundedDays = new Set<string>();
  /** Whether a transfer is allowed on its own. One for a job is not: the job would have to change with it. */
  const isAllowed = (transfer: TransferRow): boolean => {
    const { kind, from_account, to_account, amount_microusd, job_id, version_id, hosting_day } = transfer;
    if (amount_microusd <= 0 || job_id !== null) return false;
    if (kind === 'grant')
      return from_account === 'issued' && to_account.startsWith('available:') && version_id === null;
    if (kind !== 'hosting' && kind !== 'refund') return false;
    const [payer, payee] = kind === 'hosting' ? [from_account, to_account] : [to_account, from_account];
    const party = parties.find((each) => account('available', each) === payer);
    if (party === undefined || payee !== account('spent', party) || version_id !== party.version.id) return false;
    const versionDay = `${version_id} ${hosting_day}`;
    if (kind === 'hosting') return !paidDays.has(versionDay);
    return paidDays.has(versionDay) && !refundedDays.has(versionDay) && amount_microusd <= dayMicrousd;
  };
  const passing = fc.tuple(row, day).map(([any, hostingDay]): TransferRow => {
    const party = any.version_id === theirs.version.id ? theirs : ours;
    const [available, spent] = [account('available', party), account('spent', party)];
    const usual = { ...any, amount_microusd: dayMicrousd, job_id: null };
    const hosting = { ...usual, version_id: party.version.id, hosting_day: hostingDay };
    switch (any.kind) {
      case 'grant':
        return { ...usual, from_account: 'issued', to_account: available, version_id: null };
      case 'refund':
        return { ...hosting, from_account: spent, to_account: available };
      default:
        return { ...hosting, kind: 'hosting', from_account: available, to_account: spent };
    }
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(row, passing), async (transfer) => {
      const refusal = await refusalOf(insertTransfer(transfer), { keep: true });
      assert.equal(refusal === null, isAllowed(transfer), refusal ?? 'it passed');
      if (refusal !== null) return;
      const versionDay = `${transfer.version_id} ${transfer.hosting_day}`;
      if (transfer.kind === 'hosting') paidDays.add(versionDay);
      if (transfer.kind === 'refund') refundedDays.add(versionDay);
    }),
    { numRuns: 300 },
  );
  assert.deepEqual((await verifyLedger(owner)).differences, []);
});

test('a subject activates a version of its own, and none of another subject', async () => {
  const activate = (versionId: string) => (trx: Kysely<Database>) =>
    trx
      .updateTable('subjects')
      .set({ active_version_id: versionId })
      .where('id', '=', ours.version.subject_ref)
      .execute();
  assert.match((await refusalOf(activate(theirs.version.id))) ?? '', /subjects_activate_versions_of_their_own/);
  assert.equal(await refusalOf(activate(ours.version.id)), null);
});

test('the day that hosting pays is that of the version, whatever table of that name a session makes', async () => {
  const { version, key } = await makeParty();
  const { project_id } = key;
  const day = await inTransaction<number | null>(database.db, null, async (trx) => {
    await sql`create temporary table versions on commit drop as
      select ${version.id}::text as id, now() - interval '9 days' as created_at, now() as expires_at`.execute(trx);
    const { rows } = await sql<{ hosting_day: number }>`
      insert into public.transfers (kind, from_account, to_account, amount_microusd, version_id)
      values ('hosting', 'available:' || ${project_id}, 'spent:' || ${project_id}, 1, ${version.id})
      returning hosting_day`.execute(trx);
    return new RolledBack(rows[0]?.hosting_day ?? null);
  });
  assert.equal(day, 1);
});
