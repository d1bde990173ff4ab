import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { readBalance } from '../ledger/accounts.js';
import { type ClaimedJob } from './claimJob.js';
import { completeInference } from './completeInference.js';
import { completeLearning } from './completeLearning.js';
import { failJob } from './failJob.js';
import { loadPhaseOutcome, storePhaseOutcome } from './phaseOutcomes.js';
import {
  actions,
  usage,
  usageMicrousd,
  report,
  adapter,
  hostingMicrousd,
  accepted,
  database,
  key,
  admit,
  claim,
  claimed,
  expireLease,
  readRow,
  complete,
  assertLedger,
  open,
  close,
} from '../testing/jobTest.js';

before(open);
after(close);

describe('job transitions', () => {
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
    await completeLearning(database.db, await claimed('internalization'), {
      kind: 'rejected',
      usage,
      report,
      trace: { loss: [], questions: [] },
    });
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
