import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { createTestKey, createTestProject, type TestKey } from '../testing/testApp.js';
import { failJob } from './failJob.js';
import { loadPhaseOutcome, storePhaseOutcome } from './phaseOutcomes.js';
import { recordPhase } from './recordPhase.js';
import { releaseJob } from './releaseJob.js';
import {
  usage,
  database,
  key,
  admit,
  claim,
  claimed,
  expireLease,
  complete,
  assertLedger,
  open,
  close,
} from '../testing/jobTest.js';

before(open);
after(close);

describe('claiming jobs', () => {
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

  it('finds whose turn it is among more projects than it looks at, also when a clock was ahead', async () => {
    const jobOf = new Map<string, string>();
    for (let count = 0; count < 20; count += 1) {
      const owner = await createTestKey(database.db, await createTestProject(database.db));
      jobOf.set(owner.project_id, await admit('inference', { owner }));
    }
    const projects = [...jobOf.keys()];
    const setTurn = (projectId: string, claimedAt: string) =>
      database.db
        .updateTable('project_turns')
        .set({ claimed_at: sql<Date>`${claimedAt}::timestamptz` })
        .where('project_id', '=', projectId)
        .execute();
    // The last had its turn longest ago, the first has had one in the future, and the second and third had none.
    for (const [index, projectId] of projects.entries()) {
      if (index > 2) await setTurn(projectId, `2026-01-${30 - index}`);
    }
    await setTurn(projects[0] ?? '', '2999-01-01');
    const order: string[] = [];
    for (let job = await claim('inference'); job !== null; job = await claim('inference')) {
      order.push(job.job_id);
      assert.equal(await complete(job), 'done');
    }
    const expected = [...projects.slice(0, 3), ...projects.slice(3).reverse()];
    assert.deepEqual(
      order,
      expected.map((projectId) => jobOf.get(projectId)),
    );
    await assertLedger();
  });

  it('gives each kind its own jobs', async () => {
    const learning = await admit('internalization');
    assert.equal(await claim('inference'), null);
    const job = await claimed('internalization');
    assert.equal(job.job_id, learning);
    assert.equal(await failJob(database.db, job, 'engine_failed'), 'done');
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

  it('takes a job back that is handed back, without counting it against the job', async () => {
    const id = await admit('inference');
    const job = await claimed('inference');
    assert.equal(await releaseJob(database.db, job), 'done');
    assert.equal(await complete(job), 'lost');
    const again = await claimed('inference');
    assert.deepEqual([again.job_id, again.attempts], [id, 1]);
    assert.equal(await complete(again), 'done');
  });
});
