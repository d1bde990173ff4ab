import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { claimJob, type ClaimedJob } from './claimJob.js';
import { failJob } from './failJob.js';
import { storePhaseOutcome } from './phaseOutcomes.js';
import { releaseJob } from './releaseJob.js';
import { loadTrainingProgress, storeTrainingProgress } from './trainingProgress.js';

const usage = { input_tokens: 10, output_tokens: 2, cached_input_tokens: 4, training_tokens: 0 };

describe('progress of a job', () => {
  let database: TestDatabase;
  let key: TestKey;
  before(async () => {
    database = await openTestDatabase();
    key = await createTestKey(database.db, await createTestProject(database.db, 1_000_000_000));
  });
  after(() => database.close());

  async function claim(): Promise<ClaimedJob> {
    const job = await claimJob(database.db, { worker_id: 'w', kind: 'internalization', leaseMs: 60_000 });
    assert.ok(job !== null);
    return job;
  }
  const read = (jobId: string) =>
    database.db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow();
  const die = (jobId: string): Promise<unknown> =>
    database.db
      .updateTable('jobs')
      .set({ lease_expires_at: sql<Date>`now()` })
      .where('id', '=', jobId)
      .where('status', '=', 'running')
      .execute();

  it('is kept until the outcome of the training is stored, or the job ends', async () => {
    const id = await admitTestLearning(database.db, key);
    const job = await claim();
    assert.equal(await loadTrainingProgress(database.db, id), null);
    for (const steps of [4, 9]) {
      assert.equal(await storeTrainingProgress(database.db, job, { progress: { at: steps }, steps }), 'done');
      assert.deepEqual(await loadTrainingProgress(database.db, id), { at: steps });
    }
    assert.equal(await storePhaseOutcome(database.db, job, { phase: 'training', outcome: {}, usage }), 'done');
    assert.equal(await loadTrainingProgress(database.db, id), null);
    await storeTrainingProgress(database.db, job, { progress: {}, steps: 10 });
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
    assert.equal(await loadTrainingProgress(database.db, id), null);
  });

  it('is not written by who has lost the job', async () => {
    const id = await admitTestLearning(database.db, key);
    const lost = await claim();
    await die(id);
    const job = await claim();
    await storeTrainingProgress(database.db, job, { progress: 'ours', steps: 1 });
    assert.equal(await storeTrainingProgress(database.db, lost, { progress: 'theirs', steps: 5 }), 'lost');
    assert.equal(await releaseJob(database.db, job), 'done');
    assert.equal(await storeTrainingProgress(database.db, job, { progress: 'late', steps: 5 }), 'lost');
    const { training_progress, training_steps, attempts } = await read(id);
    assert.deepEqual([training_progress, training_steps, attempts], ['ours', 1, 0]);
    assert.equal(await failJob(database.db, await claim(), 'engine_failed'), 'done');
  });

  const event = fc.oneof(
    fc.constantFrom('die', 'hand back', 'phase'),
    fc.record({ steps: fc.integer({ min: 1, max: 12 }) }),
  );

  it('counts the claims since the last of it, but for those that are handed back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 25 }), async (events) => {
        const id = await admitTestLearning(database.db, key);
        let job = await claim();
        const expected = { attempts: 1, steps: 0 };
        let phases = 0;
        for (const next of events) {
          if (next === 'die') {
            await die(id);
            job = await claim();
            expected.attempts += 1;
          } else if (next === 'hand back') {
            await releaseJob(database.db, job);
            job = await claim();
            // Its own claim is taken off, unless it has made progress, and the next one counts.
            expected.attempts = Math.max(0, expected.attempts - 1) + 1;
          } else if (next === 'phase') {
            phases += 1;
            await storePhaseOutcome(database.db, job, { phase: `phase-${phases}`, outcome: {}, usage });
            expected.attempts = 0;
          } else {
            await storeTrainingProgress(database.db, job, { progress: {}, steps: next.steps });
            // Steps that were made before are repeated work.
            if (next.steps > expected.steps) expected.attempts = 0;
            expected.steps = Math.max(expected.steps, next.steps);
          }
          const { attempts, training_steps } = await read(id);
          assert.deepEqual({ attempts, steps: training_steps }, expected);
        }
        assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
      }),
      { numRuns: 30 },
    );
  });
});
