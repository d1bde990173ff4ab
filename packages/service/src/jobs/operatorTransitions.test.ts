import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cancelJob } from './cancelJob.js';
import { extendLease } from './extendLease.js';
import { resolveJob } from './resolveJob.js';
import { storePhaseOutcome } from './phaseOutcomes.js';
import { requireReconciliation } from './requireReconciliation.js';
import { beginTeacherCall, storeTeacherAnswer } from './teacherCalls.js';
import {
  actions,
  leaseMs,
  database,
  key,
  admit,
  claim,
  claimed,
  readRow,
  complete,
  assertLedger,
  open,
  close,
} from '../testing/jobTest.js';

before(open);
after(close);

describe('what operators do about jobs', () => {
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

  it('shows an operator the tokens of finished phases, and of calls to a teacher in none yet', async () => {
    const id = await admit('internalization');
    const job = await claimed('internalization');
    const usage = { input_tokens: 39_000, output_tokens: 10, cached_input_tokens: 0, training_tokens: 8_000 };
    await storePhaseOutcome(database.db, job, { phase: 'teaching', outcome: {}, usage });
    const called = { input_tokens: 20, output_tokens: 30, cached_input_tokens: 5 };
    await beginTeacherCall(database.db, job, 'asked');
    await storeTeacherAnswer(database.db, job, 'asked', { text: 'yes', usage: called });
    await requireReconciliation(database.db, job, 'receipt_missing');
    const { input_tokens, output_tokens, cached_input_tokens, training_tokens } = await readRow(id);
    assert.deepEqual([input_tokens, output_tokens, cached_input_tokens, training_tokens], [39_000, 30, 5, 8_000]);
    assert.equal((await resolveJob(database.db, id, 1)).kind, 'resolved');
    await assertLedger();
  });
});
