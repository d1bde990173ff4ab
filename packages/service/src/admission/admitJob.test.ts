import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { inTransaction } from '../db/transaction.js';
import type { InferenceJobRequest, InternalizationJobRequest } from '../jobs/jobRequest.js';
import { readBalance } from '../ledger/accounts.js';
import { settleReservation } from '../ledger/settleReservation.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { setProject } from '../projects/setProject.js';
import { countUnits, createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion, expireTestVersion } from '../testing/testVersion.js';
import { activateInNamespace } from '../versions/activateInNamespace.js';
import { admitJob, type AdmissionContext, type AdmissionOutcome, type ModelOperation } from './admitJob.js';

let database: TestDatabase;
let context: AdmissionContext;
before(async () => {
  database = await openTestDatabase();
  context = {
    db: database.db,
    countTokens: countUnits,
    contextLength: 1_000,
    execution: 'on',
    open_jobs: plentyOfJobs,
  };
});
after(async () => {
  assert.deepEqual((await verifyLedger(database.db)).differences, []);
  await database.close();
});

/** 10 tokens as the test's tokenizer counts, and an output ceiling of 100: reserves 10 × 12 + 100 × 30 micro-USD. */
const question: InferenceJobRequest = {
  kind: 'inference',
  messages: [{ role: 'user', content: 'question?' }],
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  response_format: { type: 'text' },
  max_output_tokens: 100,
  temperature: 0,
};
const questionMicrousd = 3_120;

const passage: InternalizationJobRequest = {
  kind: 'internalization',
  content: 'x'.repeat(20),
  max_cost_microusd: 1_000_000,
  activate: true,
};

let usedKeys = 0;

function operation(key: TestKey, changes: Partial<ModelOperation> = {}): ModelOperation {
  usedKeys += 1;
  return {
    key,
    tenant_id: null,
    subject_id: 'subject',
    adapter_version: undefined,
    endpoint: changes.request?.kind === 'internalization' ? '/v1/internalizations' : '/v1/inferences',
    idempotency_key: `admission-${usedKeys}`,
    request: question,
    ...changes,
  };
}

async function newKey(creditMicrousd = 100_000_000): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db, creditMicrousd));
}

function admit(asked: ModelOperation, changes: Partial<AdmissionContext> = {}): Promise<AdmissionOutcome> {
  return admitJob({ ...context, ...changes }, asked);
}

async function admitted(asked: ModelOperation): Promise<string> {
  const outcome = await admit(asked);
  if (outcome.kind !== 'admitted') assert.fail(JSON.stringify(outcome));
  return outcome.job_id;
}

async function assertRefused(code: string, asked: ModelOperation, changes: Partial<AdmissionContext> = {}) {
  const outcome = await admit(asked, changes);
  assert.deepEqual([outcome.kind, outcome.kind === 'refused' ? outcome.code : null], ['refused', code]);
}

function readRow(jobId: string) {
  return database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
}

async function settle(key: TestKey, jobId: string, chargedMicrousd: number): Promise<void> {
  await inTransaction(database.db, null, async (trx) => {
    await settleReservation(trx, { project_id: key.project_id, job_id: jobId, charged_microusd: chargedMicrousd });
    await trx
      .updateTable('jobs')
      .set({ status: 'failed', settled: true, compute_microusd: chargedMicrousd })
      .where('id', '=', jobId)
      .execute();
  });
}

describe('an admitted operation', () => {
  test('is a queued job with its reservation, price card and normalised request', async () => {
    const key = await newKey();
    const job = await readRow(await admitted(operation(key, { tenant_id: 'tenant' })));
    assert.equal(job.status, 'queued');
    assert.equal(job.tenant_id, 'tenant');
    assert.equal(job.subject_name, 'subject');
    assert.equal(job.adapter_version, 'base');
    assert.equal(job.pricing_version, '2026-11-01');
    assert.equal(job.reserved_microusd, questionMicrousd);
    assert.deepEqual(job.request, question);
    const balance = await readBalance(database.db, key.project_id);
    assert.equal(balance.reserved_microusd, questionMicrousd);
  });

  test('"Admission reserves `max_cost_microusd`, captures the subject\'s active version as parent (or `base`)"', async () => {
    const key = await newKey();
    const first = await readRow(await admitted(operation(key, { request: passage })));
    assert.equal(first.adapter_version, 'base');
    assert.equal(first.reserved_microusd, 1_000_000);
    const version = await createTestVersion(database.db, key);
    const second = await readRow(await admitted(operation(key, { request: passage })));
    assert.equal(second.adapter_version, version.id);
  });

  test('without a subject runs on base, and "no subject is created"', async () => {
    const key = await newKey();
    const job = await readRow(await admitted(operation(key, { subject_id: null })));
    assert.equal(job.subject_ref, null);
    assert.equal(job.subject_name, 'default');
    assert.equal(job.adapter_version, 'base');
    const subjects = await database.db
      .selectFrom('subjects')
      .where('project_id', '=', key.project_id)
      .selectAll()
      .execute();
    assert.deepEqual(subjects, []);
  });

  test('creates its subject once, whoever comes first', async () => {
    const key = await newKey();
    const jobs = await Promise.all(Array.from({ length: 8 }, () => admitted(operation(key, { subject_id: 'new' }))));
    const rows = await Promise.all(jobs.map(readRow));
    assert.equal(new Set(rows.map((row) => row.subject_ref)).size, 1);
  });

  test('keeps what it says, whatever characters it holds', async () => {
    const request = { ...passage, content: `\u0000 \ud800 \udfff ${'😀'.repeat(20)} ' \\ "` };
    const job = await readRow(await admitted(operation(await newKey(), { request })));
    assert.deepEqual(job.request, request);
  });
});

describe('a refused operation', () => {
  test('leaves no trace: no job, no subject, no money held, and its key stays free', async () => {
    const key = await newKey(questionMicrousd - 1);
    const asked = operation(key);
    await assertRefused('insufficient_credits', asked);
    for (const table of ['jobs', 'subjects', 'idempotency_keys'] as const) {
      const rows = await database.db.selectFrom(table).selectAll().where('project_id', '=', key.project_id).execute();
      assert.deepEqual(rows, []);
    }
    assert.equal((await readBalance(database.db, key.project_id)).reserved_microusd, 0);
    const { kind } = await admit({ ...asked, request: { ...question, max_output_tokens: 1 } });
    assert.equal(kind, 'admitted');
  });
});

describe('idempotency', () => {
  test('"Same key, same namespace and same normalized input: original job returned."', async () => {
    const key = await newKey();
    const asked = operation(key);
    const jobId = await admitted(asked);
    assert.deepEqual(await admit(asked), { kind: 'replayed', job_id: jobId, api_key_id: key.id });
  });

  test('"Same key with changed input … 409", and "one key on two endpoints is a conflict"', async () => {
    const asked = operation(await newKey());
    await admitted(asked);
    await assertRefused('idempotency_conflict', { ...asked, subject_id: 'another' });
    await assertRefused('idempotency_conflict', { ...asked, adapter_version: 'base' });
    await assertRefused('idempotency_conflict', { ...asked, request: { ...question, temperature: 1 } });
    await assertRefused('idempotency_conflict', { ...asked, endpoint: '/v1/chat/completions' });
  });

  test('"Scope: project plus tenant."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const asked = operation(key);
    const jobs = [
      await admitted(asked),
      await admitted({ ...asked, tenant_id: 'a' }),
      await admitted({ ...asked, tenant_id: 'b' }),
      await admitted({ ...asked, key: other }),
    ];
    assert.equal(new Set(jobs).size, 4);
  });

  test('another key of the project finds the same job', async () => {
    const key = await newKey();
    const asked = operation(key);
    const jobId = await admitted(asked);
    const colleague = await createTestKey(database.db, key.project_id);
    assert.deepEqual(await admit({ ...asked, key: colleague }), {
      kind: 'replayed',
      job_id: jobId,
      api_key_id: key.id,
    });
  });

  test('"an identical replay succeeds even when the balance is now empty, the version expired or execution is switched off"', async () => {
    const key = await newKey(2_000_000);
    const version = await createTestVersion(database.db, key);
    const asked = operation(key, { adapter_version: version.id });
    const jobId = await admitted(asked);
    const restMicrousd = (await readBalance(database.db, key.project_id)).available_microusd;
    await settle(
      key,
      await admitted(operation(key, { request: { ...passage, max_cost_microusd: restMicrousd } })),
      restMicrousd,
    );
    await expireTestVersion(database.db, version.id);
    const replay = await admit(asked, { execution: 'off', contextLength: 1 });
    assert.deepEqual(replay, { kind: 'replayed', job_id: jobId, api_key_id: key.id });
  });

  test('"Two simultaneous identical requests admit one job."', async () => {
    const asked = operation(await newKey());
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => admit(asked)));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === 'replayed').length, 11);
    assert.equal(new Set(outcomes.map((outcome) => 'job_id' in outcome && outcome.job_id)).size, 1);
  });

  test('whatever simultaneous requests share a key: one job, and all others replay or conflict by their input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { minLength: 2, maxLength: 8 }), async (temperatures) => {
        const base = operation(await newKey());
        const outcomes = await Promise.all(
          temperatures.map((temperature) => admit({ ...base, request: { ...question, temperature } })),
        );
        const winner = outcomes.findIndex(({ kind }) => kind === 'admitted');
        for (const [index, outcome] of outcomes.entries()) {
          const same = temperatures[index] === temperatures[winner];
          const expected = index === winner ? 'admitted' : same ? 'replayed' : 'refused';
          assert.equal(outcome.kind, expected);
        }
        const jobs = await database.db
          .selectFrom('jobs')
          .select('id')
          .where('project_id', '=', base.key.project_id)
          .execute();
        assert.equal(jobs.length, 1);
      }),
      { numRuns: 15 },
    );
  });

  test('when the first of two simultaneous requests is refused, the second is judged for itself', async () => {
    const asked = operation(await newKey(questionMicrousd));
    const dear = { ...asked, request: { ...question, max_output_tokens: 101 } };
    const outcomes = await Promise.all([dear, asked, dear, asked].map((each) => admit(each)));
    assert.equal(outcomes.filter(({ kind }) => kind === 'admitted').length, 1);
    assert.equal(
      outcomes.filter((_, index) => index % 2 === 1).some(({ kind }) => kind === 'admitted'),
      true,
    );
  });
});

describe('the version of a job', () => {
  test('"omitted means the active version"; "`base` selects the clean base model"; a retained one is pinned', async () => {
    const key = await newKey();
    const older = await createTestVersion(database.db, key);
    const active = await createTestVersion(database.db, key);
    for (const [adapterVersion, expected] of [
      [undefined, active.id],
      ['base', 'base'],
      [older.id, older.id],
    ] as const) {
      const job = await readRow(await admitted(operation(key, { adapter_version: adapterVersion })));
      assert.equal(job.adapter_version, expected);
    }
  });

  test('"A new subject starts from base."', async () => {
    const job = await readRow(await admitted(operation(await newKey(), { subject_id: 'newcomer' })));
    assert.equal(job.adapter_version, 'base');
  });

  test('"A version that exists but belongs to another subject, tenant or project answers exactly like one that does not exist: 404."', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const version = await createTestVersion(database.db, key);
    const pinned = { adapter_version: version.id };
    await assertRefused('not_found', operation(key, { adapter_version: 'ver_000000000000000000000000' }));
    await assertRefused('not_found', operation(key, { adapter_version: 'no-version' }));
    await assertRefused('not_found', operation(key, { ...pinned, subject_id: 'another' }));
    await assertRefused('not_found', operation(key, { ...pinned, tenant_id: 'tenant' }));
    await assertRefused('not_found', operation(other, pinned));
  });

  test('a deadline that passed while nobody was there to move it on is made good before anything is refused for it', async () => {
    const key = await newKey();
    const active = await createTestVersion(database.db, key);
    const pass = () =>
      database.db
        .updateTable('versions')
        .set({ expires_at: sql<Date>`now() - interval '1 minute'` })
        .where('id', '=', active.id)
        .execute();
    await pass();
    assert.equal((await readRow(await admitted(operation(key)))).adapter_version, active.id);
    await pass();
    const activation = { version_id: active.id, expected_version_id: active.id };
    const owner = { project_id: key.project_id, tenant_id: null };
    assert.equal((await activateInNamespace(database.db, { ...owner, ...activation })).kind, 'activated');
  });

  test('"An existing subject whose active adapter has expired fails with `adapter_expired`; there is no automatic fallback."', async () => {
    const key = await newKey();
    const older = await createTestVersion(database.db, key);
    const active = await createTestVersion(database.db, key);
    await expireTestVersion(database.db, active.id);
    await assertRefused('adapter_expired', operation(key));
    await assertRefused('adapter_expired', operation(key, { request: passage }));
    await assertRefused('adapter_expired', operation(key, { adapter_version: active.id }));
    assert.equal(
      (await readRow(await admitted(operation(key, { adapter_version: older.id })))).adapter_version,
      older.id,
    );
    assert.equal((await readRow(await admitted(operation(key, { adapter_version: 'base' })))).adapter_version, 'base');
  });
});

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
    // What a settlement gives back may be spent again.
    await settle(key, third, 0);
    await admitted(operation(key));
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

  /** Dates a project's transfers otherwise, past the guard that keeps them as they are. */
  async function moveTransfers(key: TestKey, createdAt: string): Promise<void> {
    await inTransaction(database.owner, null, async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      await sql`update transfers set created_at = ${sql.raw(createdAt)} where to_account = ${`spent:${key.project_id}`}`.execute(
        trx,
      );
    });
  }
});

describe('"Order of checks on a model write"', () => {
  test('"idempotent replay → execution switched off → version resolution → context ceiling → money"', async () => {
    const key = await newKey(1);
    const long = { ...question, messages: [{ role: 'user' as const, content: 'x'.repeat(2_000) }] };
    const everythingWrong = operation(key, { adapter_version: 'ver_unknown', request: long });
    await assertRefused('execution_unavailable', everythingWrong, { execution: 'off' });
    await assertRefused('not_configured', everythingWrong, { execution: 'not_configured' });
    await assertRefused('not_found', everythingWrong);
    await assertRefused('context_length_exceeded', { ...everythingWrong, adapter_version: undefined });
    await assertRefused('insufficient_credits', { ...everythingWrong, adapter_version: undefined, request: question });
  });

  test('no transaction waits for the tokens of a prompt to be counted, whatever comes of it', async () => {
    const key = await newKey();
    const open = async (): Promise<number> => {
      const { rows } = await sql<{ open: number }>`select count(*)::int as open from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and xact_start is not null
          and pid <> pg_backend_pid()`.execute(database.owner);
      return rows[0]?.open ?? 0;
    };
    const seen: number[] = [];
    const countTokens = async (): Promise<number> => {
      seen.push(await open());
      return 10;
    };
    assert.equal((await admit(operation(key), { countTokens })).kind, 'admitted');
    assert.deepEqual(seen, [0]);
    const unable = (): Promise<number> => Promise.reject(new Error('it cannot be counted'));
    await assertRefused('not_found', operation(key, { adapter_version: 'ver_unknown' }), { countTokens: unable });
    await assert.rejects(admit(operation(key), { countTokens: unable }), /it cannot be counted/);
  });

  test('a used key with other input is a conflict before anything else', async () => {
    const key = await newKey();
    const asked = operation(key);
    await admitted(asked);
    await assertRefused('idempotency_conflict', { ...asked, adapter_version: 'ver_unknown' }, { execution: 'off' });
  });
});
