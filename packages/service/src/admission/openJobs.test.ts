import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { cancelJob } from '../jobs/cancelJob.js';
import { claimJob } from '../jobs/claimJob.js';
import { releaseJob } from '../jobs/releaseJob.js';
import { readBalance } from '../ledger/accounts.js';
import { question } from '../testing/admissionTest.js';
import { findHalfStates } from '../testing/findHalfStates.js';
import { buildTestApp, call, countUnits, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitJob, type AdmissionOutcome } from './admitJob.js';
import type { OpenJobLimits } from './checkOpenJobs.js';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase({ maxConnections: 16 });
});
after(() => database.close());

const body = { subject_id: 'subject', messages: question.messages };

let usedKeys = 0;

function admit(key: TestKey, openJobs: OpenJobLimits, usedKey?: string): Promise<AdmissionOutcome> {
  usedKeys += 1;
  const meter = { countTokens: countUnits, contextLength: 1_000 };
  return admitJob(
    { ...meter, db: database.db, execution: 'on', open_jobs: openJobs },
    {
      key,
      tenant_id: null,
      subject_id: 'subject',
      adapter_version: undefined,
      endpoint: '/v1/inferences',
      idempotency_key: usedKey ?? `open-jobs-${usedKeys}`,
      request: question,
    },
  );
}

async function newKey(): Promise<TestKey> {
  return createTestKey(database.db, await createTestProject(database.db));
}

const admitted = (outcomes: readonly AdmissionOutcome[]) => outcomes.filter(({ kind }) => kind === 'admitted').length;

async function countJobs(key: TestKey): Promise<number> {
  const jobs = await database.db.selectFrom('jobs').select('id').where('project_id', '=', key.project_id).execute();
  return jobs.length;
}

/** The number of open jobs in all projects. Jobs of earlier tests stay open. */
async function countOpen(): Promise<number> {
  const open = await database.db.selectFrom('jobs').select('id').where('status', 'in', ['queued', 'running']).execute();
  return open.length;
}

/** A limit of projects must not be met where that of the service is tested, and the other way round. */
const far = 100_000;

describe('429 `queue_full`: "the project, or the service, has as many open jobs as it may"', () => {
  test('simultaneous admissions never pass the limit of their project, and a full project hinders no other', async () => {
    const [key, other] = [await newKey(), await newKey()];
    const limits = { of_project: 5, of_service: far };
    const outcomes = await Promise.all(Array.from({ length: 48 }, () => admit(key, limits)));
    assert.equal(admitted(outcomes), 5);
    assert.equal(await countJobs(key), 5);
    for (const outcome of outcomes) {
      if (outcome.kind !== 'admitted') assert.deepEqual(outcome, { kind: 'refused', code: 'project_queue_full' });
    }
    const { reserved_microusd } = await readBalance(database.db, key.project_id);
    assert.equal(reserved_microusd, 5 * (10 * 12 + 100 * 30));
    assert.equal((await admit(other, limits)).kind, 'admitted');
  });

  test('running jobs count, ended ones do not, and a replay comes before the queue is looked at', async () => {
    const key = await newKey();
    const limits = { of_project: 2, of_service: far };
    const first = await admit(key, limits, 'replayed-when-full');
    await admit(key, limits);
    const update = (status: 'running' | 'reconciliation_required') =>
      database.db.updateTable('jobs').set({ status }).where('project_id', '=', key.project_id).execute();
    await update('running');
    assert.deepEqual(await admit(key, limits), { kind: 'refused', code: 'project_queue_full' });
    assert.deepEqual(await admit(key, limits, 'replayed-when-full'), {
      kind: 'replayed',
      job_id: first.kind === 'admitted' && first.job_id,
      api_key_id: key.id,
    });
    await update('reconciliation_required');
    assert.equal((await admit(key, limits)).kind, 'admitted');
  });

  test('whatever becomes of jobs, as many are counted as are open, and the service may not set a count', async () => {
    const key = await newKey();
    const counted = async () => {
      const row = await database.db
        .selectFrom('open_jobs')
        .select('jobs')
        .where('project_id', '=', key.project_id)
        .executeTakeFirst();
      return row?.jobs ?? 0;
    };
    const limits = { of_project: 2, of_service: far };
    const [first, second] = [await admit(key, limits), await admit(key, limits)];
    assert.ok(first.kind === 'admitted' && second.kind === 'admitted');
    assert.equal((await admit(key, limits)).kind, 'refused');
    assert.equal(await counted(), 2);
    const claimed = await claimJob(database.db, { worker_id: 'worker', kind: 'inference', leaseMs: 60_000 });
    assert.equal(await counted(), 2, 'a running job is open');
    assert.ok(claimed !== null);
    await releaseJob(database.db, claimed);
    assert.equal(await counted(), 2, 'a job that was handed back is open');
    assert.equal((await cancelJob(database.db, first.job_id)).kind, 'cancelled');
    assert.equal(await counted(), 1);
    await assert.rejects(database.db.updateTable('open_jobs').set({ jobs: 0 }).execute(), /permission denied/);
    assert.deepEqual((await findHalfStates(database.db)).halfStates, []);
  });

  test('jobs are counted by connections that have counted more of them than a 32-bit number holds', async () => {
    await sql`
      insert into open_jobs_of_service as counted (slot, jobs)
        select slot, case when slot < 64 then 2147483647 else -2147483647 end from generate_series(0, 127) as slot
      on conflict (slot) do update set jobs = excluded.jobs`.execute(database.owner);
    assert.equal((await admit(await newKey(), { of_project: far, of_service: 1 })).kind, 'admitted');
    assert.equal((await admit(await newKey(), { of_project: far, of_service: 1 })).kind, 'refused');
    await sql`update open_jobs_of_service
      set jobs = case slot when 0 then (select sum(jobs) from open_jobs) else 0 end`.execute(database.owner);
  });

  test('simultaneous admissions of several projects pass the limit of the service by one job for each other project', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, newKey));
    const before = await countOpen();
    const limits = { of_project: far, of_service: before + 10 };
    const asked = Array.from({ length: 24 }, () => keys).flat();
    const outcomes = await Promise.all(asked.map((key) => admit(key, limits)));
    const count = admitted(outcomes);
    assert.ok(count >= 10 && count < 10 + keys.length, `${count} were admitted`);
    assert.equal(await countOpen(), before + count);
    assert.deepEqual(await admit(await newKey(), limits), { kind: 'refused', code: 'service_queue_full' });
  });

  test('over HTTP it is retryable, "with `Retry-After`", and says whose queue is full; also in chat, where nothing was admitted', async () => {
    const key = await newKey();
    const { app } = buildTestApp(database.db, { open_jobs: { of_project: 1, of_service: far } });
    const post = (url: string, headers: Record<string, string>, sent: unknown) =>
      call(app, 'POST', url, { key, headers, body: sent });
    const native = (idempotencyKey: string) => post('/v1/inferences', { 'idempotency-key': idempotencyKey }, body);
    assert.equal((await native('full-0001')).statusCode, 202);
    const chat = { model: 'model-5.3', messages: body.messages };
    const learning = { subject_id: 'subject', content: 'x'.repeat(20), max_cost_microusd: 1_000_000 };
    const refusals = [
      await native('full-0002'),
      await post('/v1/chat/completions', {}, chat),
      await post('/v1/internalizations', { 'idempotency-key': 'full-0003' }, learning),
    ];
    for (const refusal of refusals) {
      assert.equal(refusal.statusCode, 429);
      const { error } = refusal.json<{ error: Record<string, unknown> }>();
      assert.deepEqual([error['code'], error['retryable']], ['queue_full', true]);
      assert.match(String(error['message']), /^The project has as many open jobs as it may/);
      const retryAfterS = Number(refusal.headers['retry-after']);
      assert.ok(Number.isInteger(retryAfterS) && retryAfterS >= 1);
      assert.equal(refusal.headers['x-should-retry'], 'true');
      assert.equal(refusal.headers['x-service-job-id'], undefined);
    }
    assert.equal((await native('full-0001')).statusCode, 200);
    assert.equal(await countJobs(key), 1);
    await app.close();
  });

  test('for a moment a chat completion without a key of its own is refused without a look; a replay never is', async () => {
    const [key, other] = [await newKey(), await newKey()];
    let nowMs = 0;
    const openJobs = { of_project: 1, of_service: far };
    const { app } = buildTestApp(database.db, { open_jobs: openJobs, nowMs: () => nowMs });
    const chat = (by: TestKey, headers: Record<string, string> = {}) =>
      call(app, 'POST', '/v1/chat/completions', {
        key: by,
        headers,
        body: { model: 'model-5.3', messages: body.messages },
      });
    const named = { 'idempotency-key': 'chat-full-0001' };
    // Nobody works on it, so the wait ends at once: 409, with its job.
    const first = await chat(key, named);
    assert.equal(first.statusCode, 409);
    const jobId = String(first.headers['x-service-job-id']);
    assert.equal((await chat(key)).statusCode, 429);
    assert.equal((await cancelJob(database.db, jobId)).kind, 'cancelled');
    assert.equal((await chat(key)).statusCode, 429, 'nobody has looked since');
    assert.equal((await chat(key, named)).headers['x-service-job-id'], jobId);
    assert.equal((await chat(other)).statusCode, 409, 'the queue of another project is another one');
    nowMs += 150;
    const second = await chat(key);
    assert.equal(second.statusCode, 409);
    assert.notEqual(second.headers['x-service-job-id'], jobId);
    await app.close();
  });
});
