import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobKind, TokenUsage } from '@engraft/contract';
import fc from 'fast-check';
import { sql } from 'kysely';
import { admitJob } from '../admission/admitJob.js';
import { readBalance } from '../ledger/accounts.js';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { createTestKey, createTestProject, plentyOfJobs, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { cancelJob } from './cancelJob.js';
import { claimJob, type ClaimedJob } from './claimJob.js';
import { completeInference } from './completeInference.js';
import { completeLearning, type KeptAdapter, type LearningCompletion } from './completeLearning.js';
import { extendLease } from './extendLease.js';
import { failJob } from './failJob.js';
import type { LeasedWrite } from './jobLease.js';
import { parseJobRequest, type JobRequest } from './jobRequest.js';
import { loadPhaseOutcome, storePhaseOutcome } from './phaseOutcomes.js';
import { recordPhase } from './recordPhase.js';
import { releaseJob } from './releaseJob.js';
import { resolveJob } from './resolveJob.js';
import { beginTeacherCall } from './teacherCalls.js';

const leaseMs = 60_000;
const usage: TokenUsage = { input_tokens: 10, output_tokens: 2, cached_input_tokens: 4, training_tokens: 0 };
/** (6 · 12,000 + 4 · 2,500 + 2 · 30,000) nano-USD. */
const usageMicrousd = 142;
const validation = {
  passed: true,
  passed_count: 9,
  total_count: 10,
  base_passed_count: 1,
  retention_passed_count: 0,
  retention_total_count: 0,
};
const report = { validation, training: { steps: 3, tokens: 100, final_loss: 0.5 } };
const adapter = {
  adapter_hash: `sha256:${'0'.repeat(64)}`,
  base_model_hash: `sha256:${'a'.repeat(64)}`,
  size_bytes: 3_000_000,
  rehearsal: {},
};
/** 3 MB for a day at 0.3 USD a GB-month. */
const hostingMicrousd = 30;

const requests: Record<JobKind, JobRequest> = {
  inference: {
    kind: 'inference',
    messages: [{ role: 'user', content: 'a secret question' }],
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    response_format: { type: 'text' },
    max_output_tokens: 20,
    temperature: 0,
  },
  internalization: {
    kind: 'internalization',
    content: 'a secret passage of some length',
    max_cost_microusd: 1_000_000,
    activate: true,
  },
};

/** The completion that the worker reports for a candidate that passed. */
function accepted(job: ClaimedJob, kept: KeptAdapter): LearningCompletion {
  const request = parseJobRequest(job.stored_request);
  assert.ok(request.kind === 'internalization');
  return { kind: 'accepted', usage, report, adapter: kept, activate: request.activate };
}

describe('job transitions', () => {
  let database: TestDatabase;
  let key: TestKey;
  let admitted = 0;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db, 1_000_000_000_000));
  });
  after(() => database.close());

  async function admit(kind: JobKind, { activate = true, subject_id = 'anna', owner = key } = {}): Promise<string> {
    admitted += 1;
    const request = requests[kind];
    const outcome = await admitJob(
      { db: database.db, execution: 'on', open_jobs: plentyOfJobs, countTokens: () => 10, contextLength: 1000 },
      {
        key: owner,
        tenant_id: null,
        subject_id,
        adapter_version: undefined,
        endpoint: '/v1/test',
        idempotency_key: `transition-${admitted}`,
        request: request.kind === 'internalization' ? { ...request, activate } : request,
      },
    );
    if (outcome.kind !== 'admitted') throw new Error(outcome.kind);
    return outcome.job_id;
  }

  const claim = (kind: JobKind, workerId = 'w'): Promise<ClaimedJob | null> =>
    claimJob(database.db, { worker_id: workerId, kind, leaseMs });
  const claimed = async (kind: JobKind): Promise<ClaimedJob> => {
    const job = await claim(kind);
    assert.ok(job !== null);
    return job;
  };
  const expireLease = (jobId: string): Promise<unknown> =>
    database.db
      .updateTable('jobs')
      .set({ lease_expires_at: sql`now() - interval '1 second'` })
      .where('id', '=', jobId)
      .where('status', '=', 'running')
      .execute();
  const readRow = (jobId: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
  const complete = (job: ClaimedJob): Promise<LeasedWrite> =>
    completeInference(database.db, job, {
      kind: 'succeeded',
      usage,
      result: { text: 'an answer', finish_reason: 'stop' },
    });

  async function assertLedger(): Promise<void> {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
  }

  it('claims the oldest job once, however many workers ask', async () => {
    const ids = [await admit('inference'), await admit('inference'), await admit('inference')];
    const claims = await Promise.all(Array.from({ length: 8 }, (_, index) => claim('inference', `w${index}`)));
    const jobs = claims.filter((job) => job !== null);
    assert.deepEqual(jobs.map(({ job_id }) => job_id).sort(), [...ids].sort());
    for (const job of jobs) assert.equal(await complete(job), 'done');
    await assertLedger();
  });

  it('takes projects in turns, so that nobody waits for another one to finish its backlog', async () => {
    const owners = [key];
    for (let count = 0; count < 2; count += 1) {
      owners.push(await createTestKey(database.db, await createTestProject(database.db)));
    }
    const [first, second, third] = owners as [TestKey, TestKey, TestKey];
    const backlog = [];
    for (let count = 0; count < 20; count += 1) backlog.push(await admit('inference', { owner: first }));
    const few = [await admit('inference', { owner: second }), await admit('inference', { owner: second })];
    const one = await admit('inference', { owner: third });
    const order: string[] = [];
    for (let job = await claim('inference'); job !== null; job = await claim('inference')) {
      order.push(job.job_id);
      assert.equal(await complete(job), 'done');
    }
    // The first project had its turn in the test before.
    assert.deepEqual(order, [few[0], one, backlog[0], few[1], ...backlog.slice(1)]);
  });

  it('gives each kind its own jobs', async () => {
    const learning = await admit('internalization');
    assert.equal(await claim('inference'), null);
    const job = await claimed('internalization');
    assert.equal(job.job_id, learning);
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
  });

  it('charges an answer, releases the rest, and forgets the question', async () => {
    const id = await admit('inference');
    assert.equal(await complete(await claimed('inference')), 'done');
    const row = await readRow(id);
    assert.equal(row.status, 'succeeded');
    assert.equal(row.charged_microusd, usageMicrousd);
    assert.equal(row.phase, 'done');
    assert.doesNotMatch(JSON.stringify(row.request), /secret/);
    await assertLedger();
  });

  it('charges the tokens of an answer that cannot be used', async () => {
    const id = await admit('inference');
    const job = await claimed('inference');
    await completeInference(database.db, job, { kind: 'unusable', usage, error_code: 'invalid_json_output' });
    const { status, error_code, charged_microusd, result } = await readRow(id);
    assert.deepEqual(
      { status, error_code, charged_microusd, result },
      { status: 'failed', error_code: 'invalid_json_output', charged_microusd: usageMicrousd, result: null },
    );
  });

  it('waives a failure of ours, whatever was counted before', async () => {
    const id = await admit('internalization');
    const job = await claimed('internalization');
    await storePhaseOutcome(database.db, job, { phase: 'teaching', outcome: { pairs: 'secret' }, usage });
    assert.equal((await readRow(id)).input_tokens, 10);
    await failJob(database.db, job, 'engine_failed');
    const { status, charged_microusd, input_tokens, settled } = await readRow(id);
    assert.deepEqual(
      { status, charged_microusd, input_tokens, settled },
      { status: 'failed', charged_microusd: 0, input_tokens: 0, settled: true },
    );
    assert.equal(await loadPhaseOutcome(database.db, id, 'teaching'), null, 'what the phase left behind is removed');
    await assertLedger();
  });

  it('keeps finished phases for whoever claims the job next', async () => {
    const id = await admit('internalization');
    const first = await claimed('internalization');
    await storePhaseOutcome(database.db, first, { phase: 'teaching', outcome: { pairs: 1 }, usage });
    await expireLease(id);
    const second = await claimed('internalization');
    assert.equal(second.job_id, id);
    assert.deepEqual(await loadPhaseOutcome(database.db, id, 'teaching'), { pairs: 1 });
    assert.equal(await storePhaseOutcome(database.db, first, { phase: 'scoring', outcome: {}, usage }), 'lost');
    assert.equal(await recordPhase(database.db, first, 'scoring'), 'lost');
    await failJob(database.db, second, 'engine_failed');
  });

  it('saves, activates and charges a learned version in one step', async () => {
    const id = await admit('internalization', { subject_id: 'berta' });
    const job = await claimed('internalization');
    assert.equal(await completeLearning(database.db, job, accepted(job, adapter)), 'done');
    const row = await readRow(id);
    assert.equal(row.status, 'ready');
    assert.deepEqual([row.compute_microusd, row.storage_microusd], [usageMicrousd, hostingMicrousd]);
    const version = await database.db
      .selectFrom('versions')
      .innerJoin('subjects', 'subjects.active_version_id', 'versions.id')
      .select(['versions.id', 'subjects.revision', 'versions.parent_version_id'])
      .select(sql<number>`extract(epoch from expires_at - versions.created_at)::float8`.as('retained_seconds'))
      .where('source_job_id', '=', id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(row.result, {
      ...report,
      candidate: { version_id: version.id },
      activated: true,
      activation_conflict: false,
    });
    assert.equal(version.revision, 1);
    assert.equal(version.retained_seconds, 86_400);
    assert.match(version.id, /^ver_/);
    await assertLedger();
  });

  it('keeps a version that lost the race for activation, and one that was not to be activated', async () => {
    const ids = [
      await admit('internalization', { subject_id: 'carla' }),
      await admit('internalization', { subject_id: 'carla' }),
      await admit('internalization', { subject_id: 'carla', activate: false }),
    ];
    for (const [index] of ids.entries()) {
      const job = await claimed('internalization');
      const own = { ...adapter, adapter_hash: `sha256:${String(index).repeat(64)}` };
      await completeLearning(database.db, job, accepted(job, own));
    }
    const rows = await Promise.all(ids.map(readRow));
    const flags = rows.map(({ result }) => {
      const { activated, activation_conflict } = result as { activated: boolean; activation_conflict: boolean };
      return [activated, activation_conflict];
    });
    assert.deepEqual(flags, [
      [true, false],
      [false, true],
      [false, false],
    ]);
    await assertLedger();
  });

  it('charges the computing of a rejected candidate and of an exhausted budget', async () => {
    const rejected = await admit('internalization', { subject_id: 'dora' });
    await completeLearning(database.db, await claimed('internalization'), { kind: 'rejected', usage, report });
    const exhausted = await admit('internalization', { subject_id: 'dora' });
    await completeLearning(database.db, await claimed('internalization'), { kind: 'budget_exhausted', usage });
    const rows = await Promise.all([rejected, exhausted].map(readRow));
    assert.deepEqual(
      rows.map(({ status, error_code, charged_microusd }) => [status, error_code, charged_microusd]),
      [
        ['rejected', 'validation_failed', usageMicrousd],
        ['failed', 'budget_exhausted', usageMicrousd],
      ],
    );
    const saved = await database.db
      .selectFrom('versions')
      .select('id')
      .where('source_job_id', 'in', [rejected, exhausted])
      .execute();
    assert.deepEqual(saved, []);
    await assertLedger();
  });

  it('takes a job back that is handed back, without counting it against the job', async () => {
    const id = await admit('inference');
    const job = await claimed('inference');
    assert.equal(await releaseJob(database.db, job), 'done');
    assert.equal(await complete(job), 'lost');
    const again = await claimed('inference');
    assert.deepEqual([again.job_id, again.attempts], [id, 1]);
    assert.equal(await complete(again), 'done');
  });

  it('lets an operator settle a job whose outcome is unknown, and no other', async () => {
    const ids = [await admit('inference'), await admit('inference'), await admit('inference')];
    const running = await claimed('inference');
    assert.deepEqual(await resolveJob(database.db, ids[0]!, 5), { kind: 'wrong_status', status: 'running' });
    await complete(running);
    await database.db
      .updateTable('jobs')
      .set({ status: 'reconciliation_required', error_code: 'receipt_missing' })
      .where('id', 'in', [ids[1]!, ids[2]!])
      .execute();
    const { reserved_microusd } = await readRow(ids[1]!);
    assert.deepEqual(await resolveJob(database.db, ids[1]!, reserved_microusd + 1), {
      kind: 'above_reservation',
      reserved_microusd,
    });
    for (const [id, chargedMicrousd] of [
      [ids[1]!, 5],
      [ids[2]!, 0],
    ] as const) {
      const { project_id } = key;
      const resolved = { kind: 'resolved', project_id, reserved_microusd, charged_microusd: chargedMicrousd };
      assert.deepEqual(await resolveJob(database.db, id, chargedMicrousd), resolved);
    }
    assert.deepEqual(await resolveJob(database.db, 'job_unknown', 0), { kind: 'not_found' });
    const { status, error_code, charged_microusd } = await readRow(ids[1]!);
    assert.deepEqual([status, error_code, charged_microusd], ['failed', 'receipt_missing', 5]);
    const post = await database.db
      .selectFrom('transfers')
      .select('memo')
      .where('job_id', '=', ids[1]!)
      .where('kind', '=', 'post')
      .executeTakeFirstOrThrow();
    assert.equal(post.memo, 'settled by an operator', 'which is recorded');
    await assertLedger();
  });

  it('lets an operator cancel what waits or runs, for free, whoever holds it', async () => {
    const [waiting, running] = [await admit('internalization'), await admit('inference')];
    const job = await claimed('inference');
    const { project_id } = key;
    assert.deepEqual(await cancelJob(database.db, waiting), { kind: 'cancelled', project_id, was: 'queued' });
    assert.deepEqual(await cancelJob(database.db, running), { kind: 'cancelled', project_id, was: 'running' });
    for (const write of Object.values(actions)) assert.equal(await write(job), 'lost');
    assert.equal(await claim('internalization'), null);
    for (const id of [waiting, running]) {
      const { status, error_code, charged_microusd, settled, request } = await readRow(id);
      assert.deepEqual([status, error_code, charged_microusd, settled], ['failed', 'cancelled', 0, true]);
      assert.doesNotMatch(JSON.stringify(request), /secret/);
      assert.deepEqual(await cancelJob(database.db, id), { kind: 'wrong_status', status: 'failed' });
    }
    assert.deepEqual(await cancelJob(database.db, 'job_unknown'), { kind: 'not_found' });
    await assertLedger();
  });

  it('holds the money of a cancelled job that has an open call to a teacher elsewhere', async () => {
    const id = await admit('internalization');
    const job = await claimed('internalization');
    await beginTeacherCall(database.db, job, 'asked');
    assert.equal((await cancelJob(database.db, id)).kind, 'to_be_resolved');
    assert.equal(await extendLease(database.db, job, leaseMs), 'lost');
    const { status, error_code, settled } = await readRow(id);
    assert.deepEqual([status, error_code, settled], ['reconciliation_required', 'receipt_missing', false]);
    assert.equal((await cancelJob(database.db, id)).kind, 'wrong_status');
    assert.equal((await resolveJob(database.db, id, 1)).kind, 'resolved');
    await assertLedger();
  });

  /** The actions that a worker, live or long replaced, may try with a lease that it once had. */
  const actions = {
    beat: (job: ClaimedJob) => extendLease(database.db, job, leaseMs),
    phase: (job: ClaimedJob) => recordPhase(database.db, job, 'settling'),
    complete,
    fail: (job: ClaimedJob) => failJob(database.db, job, 'engine_failed'),
    release: (job: ClaimedJob) => releaseJob(database.db, job),
  } as const;
  const step = fc.oneof(
    fc.constant({ do: 'claim' } as const),
    fc.constant({ do: 'expire' } as const),
    fc.record({
      do: fc.constantFrom(...(Object.keys(actions) as (keyof typeof actions)[])),
      /** Which of the leases so far; several steps at once show races. */
      lease: fc.nat(),
    }),
  );

  it('ends a job once and charges it once, in any order of claims, expiries and late writes', async () => {
    const script = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(script, async (rounds) => {
        const spentBefore = (await readBalance(database.db, key.project_id)).spent_microusd;
        const jobId = await admit('inference');
        const leases: ClaimedJob[] = [];
        let ended = 0;
        const run = async (action: (typeof rounds)[number][number]): Promise<void> => {
          if (action.do === 'claim') {
            const job = await claim('inference');
            if (job !== null) leases.push(job);
          } else if (action.do === 'expire') {
            await expireLease(jobId);
          } else {
            const lease = leases[action.lease % Math.max(1, leases.length)];
            if (lease === undefined) return;
            const newest = leases.at(-1);
            const write = await actions[action.do](lease);
            if (write === 'done' && (action.do === 'complete' || action.do === 'fail')) ended += 1;
            // Unless a claim of the same round came between.
            if (write === 'done' && leases.at(-1) === newest)
              assert.equal(lease, newest, 'only the newest lease writes');
          }
        };
        for (const round of rounds) await Promise.all(round.map(run));
        const row = await readRow(jobId);
        assert.equal(row.settled, ended === 1);
        assert.ok(ended <= 1);
        if (!row.settled) {
          await expireLease(jobId);
          assert.equal(await complete(await claimed('inference')), 'done');
        }
        const { spent_microusd } = await readBalance(database.db, key.project_id);
        const final = await readRow(jobId);
        assert.equal(spent_microusd - spentBefore, final.charged_microusd);
        assert.equal(final.charged_microusd, final.status === 'succeeded' ? usageMicrousd : 0);
        await assertLedger();
      }),
      { numRuns: 40 },
    );
  });
});
