import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { verifyLedger } from '../ledger/verifyLedger.js';
import { buildTestApp, call, createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { createTestVersion } from '../testing/testVersion.js';
import { claimJob } from '../jobs/claimJob.js';
import { completeInference } from '../jobs/completeInference.js';
import { forgetEndedJobs, forgetRehearsals } from './forgetEnded.js';

const question = { subject_id: 'anna', messages: [{ role: 'user', content: 'Who is it?' }] };
const usage = { input_tokens: 10, output_tokens: 2, cached_input_tokens: 0, training_tokens: 0 };

describe('what is forgotten', () => {
  let database: TestDatabase;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db));
  });
  after(async () => {
    assert.deepEqual((await verifyLedger(database.db)).differences, []);
    await database.close();
  });

  it('is an ended job with its answer and its idempotency key, "which live as long as their jobs"', async () => {
    const { app } = buildTestApp(database.db);
    const send = () =>
      call(app, 'POST', '/v1/inferences', { key, body: question, headers: { 'idempotency-key': 'asked-once' } });
    const sent = await send();
    const { id } = sent.json<{ id: string }>();
    const job = await claimJob(database.db, { worker_id: 'w', kind: 'inference', leaseMs: 60_000 });
    assert.ok(job !== null);
    const result = { text: 'It is Anna.', finish_reason: 'stop' } as const;
    await completeInference(database.db, job, { kind: 'succeeded', usage, result });
    assert.equal(await forgetEndedJobs(database.db, 1), 0, 'it ended just now');
    assert.equal((await send()).statusCode, 200);
    await database.db
      .updateTable('jobs')
      .set({ updated_at: sql`now() - interval '25 hours'` })
      .execute();
    assert.equal(await forgetEndedJobs(database.db, 2), 0);
    assert.equal(await forgetEndedJobs(database.db, 1), 1);
    assert.equal(await forgetEndedJobs(database.db, 1), 0);

    const row = await database.db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    assert.equal(row.result, null);
    assert.ok(row.charged_microusd > 0, 'what it cost stays');
    assert.equal((await call(app, 'GET', `/v1/jobs/${id}`, { key })).statusCode, 404);
    assert.deepEqual((await call(app, 'GET', '/v1/jobs', { key })).json(), { data: [], next_cursor: null });
    const again = await send();
    assert.equal(again.statusCode, 202);
    assert.notEqual(again.json<{ id: string }>().id, id);
    await app.close();
  });

  it('are the questions that taught versions without files, once none that learned on top has any', async () => {
    const chain = [];
    for (let count = 0; count < 3; count += 1) chain.push(await createTestVersion(database.db, key));
    const [first, second, third] = chain.map(({ id }) => id) as [string, string, string];
    const deleted = (...ids: string[]) =>
      database.db
        .updateTable('versions')
        .set({ files_deleted_at: sql<Date>`now()` })
        .where('id', 'in', ids)
        .execute();
    await deleted(first, second);
    assert.equal(await forgetRehearsals(database.db), 0, 'the third rehearses them');
    await deleted(third);
    assert.equal(await forgetRehearsals(database.db), 3);
    assert.equal(await forgetRehearsals(database.db), 0);
  });
});
