import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { claimJob, type ClaimedJob } from '../jobs/claimJob.js';
import { extendLease } from '../jobs/extendLease.js';
import { failJob } from '../jobs/failJob.js';
import { createTestKey, createTestProject } from '../testing/testApp.js';
import { openTestClock, type TestClock } from '../testing/testClock.js';
import { openTestDatabase, type TestDatabase } from '../testing/testDatabase.js';
import { admitTestLearning } from '../testing/testVersion.js';
import { measureJump } from './measureJump.js';
import { observeClock } from './observeClock.js';
import { type ClockWatch, watchClock } from './watchClock.js';

describe('the clock', () => {
  let database: TestDatabase;
  let clock: TestClock;
  before(async () => {
    database = await openTestDatabase();
    clock = await openTestClock(database);
  });
  beforeEach(async () => {
    await clock.set('0');
    await observeClock(clock.db);
  });
  after(async () => {
    await clock.close();
    await database.close();
  });

  interface Watched extends ClockWatch {
    readonly lines: readonly Record<string, unknown>[];
    /** The value of a metric, with its labels as they stand in the text. */
    metric(name: string): Promise<number>;
  }

  async function watch(): Promise<Watched> {
    const lines: Record<string, unknown>[] = [];
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, written) => {
        lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
        written();
      },
    });
    const metrics = new Registry();
    const watching = await watchClock({ db: clock.db, logger: pino({}, sink), metrics, intervalMs: 10 });
    const metric = async (name: string): Promise<number> => {
      const text = await metrics.metrics();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1),
      );
    };
    return { stop: () => watching.stop(), lines, metric };
  }

  async function until(condition: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + 30_000;
    while (!(await condition())) {
      assert.ok(Date.now() < deadlineMs, 'it did not come to that');
      await sleep(10);
    }
  }

  it('jumps, which is logged with its size and counted, forward and back', async () => {
    const watched = await watch();
    await clock.set('9600 hours');
    await until(async () => (await watched.metric('engraft_clock_jumps_total{direction="forward"}')) === 1);
    assert.ok(Math.abs((await watched.metric('engraft_clock_difference_seconds')) + 9_600 * 3_600) < 60);
    await clock.set('-2 hours');
    await until(async () => (await watched.metric('engraft_clock_jumps_total{direction="back"}')) === 1);
    await watched.stop();
    const errors = watched.lines.filter(({ level }) => level === 50);
    const jumps = errors.filter(({ jump_seconds }) => jump_seconds !== undefined);
    assert.deepEqual(
      jumps.map(({ jump_seconds }) => Math.round(Number(jump_seconds) / 3_600)),
      [9_600, -9_602],
    );
    assert.match(String(jumps[0]?.['msg']), /the machine slept, or its clock was set/);
    // Once, however often it is looked at.
    assert.equal(errors.filter(({ difference_seconds }) => difference_seconds !== undefined).length, 1);
  });

  it('that goes on as time does is nothing to speak of, and neither is a short stop of the service', async () => {
    await clock.set('20 hours');
    const watched = await watch();
    await sleep(100);
    await clock.set('20 hours 50 seconds');
    await sleep(100);
    await watched.stop();
    assert.deepEqual(
      watched.lines.filter(({ difference_seconds }) => difference_seconds === undefined),
      [],
    );
  });

  it('is compared with what was seen before the start: it went back, or more than a day has passed', async () => {
    await clock.set('-2 hours');
    const earlier = await watch();
    await earlier.stop();
    assert.equal(await earlier.metric('engraft_clock_jumps_total{direction="back"}'), 1);
    await clock.set('30 hours');
    const later = await watch();
    await later.stop();
    assert.equal(await later.metric('engraft_clock_jumps_total{direction="forward"}'), 0);
    const [absence] = later.lines.filter(({ absent_seconds }) => absent_seconds !== undefined);
    assert.equal(Math.round(Number(absence?.['absent_seconds']) / 3_600), 32);
  });

  it('is measured whatever the answers take: a steady clock never jumps, and a jump is seen but for that time', () => {
    const time = fc.integer({ min: 0, max: 100_000 });
    fc.assert(
      fc.property(time, time, time, time, fc.double({ min: 0, max: 1, noNaN: true }), fc.integer(), (...sample) => {
        const [waitedMs, firstMs, betweenMs, secondMs, when, jumpMs] = sample;
        const askedMs = waitedMs + firstMs + betweenMs;
        const earlier = {
          databaseMs: waitedMs + when * firstMs,
          askedMs: waitedMs,
          answeredMs: waitedMs + firstMs,
        };
        const later = { askedMs, answeredMs: askedMs + secondMs };
        const measure = (aheadMs: number) =>
          measureJump(earlier, { ...later, databaseMs: askedMs + when * secondMs + aheadMs });
        assert.ok(Math.abs(measure(0)) < 1e-6);
        const measuredMs = measure(jumpMs);
        assert.ok(Math.abs(measuredMs) <= Math.abs(jumpMs) + 1e-6);
        assert.ok(Math.abs(measuredMs - jumpMs) <= firstMs + secondMs + 1e-6);
      }),
    );
  });

  const claim = (workerId: string): Promise<ClaimedJob | null> =>
    claimJob(clock.db, { worker_id: workerId, kind: 'internalization', leaseMs: 15_000 });

  it('goes back, and the job of a worker that died is taken over as ever, that of one that lives is not', async () => {
    const key = await createTestKey(database.db, await createTestProject(database.db));
    const admitted = [await admitTestLearning(database.db, key), await admitTestLearning(database.db, key)];
    const [dead, living] = [await claim('dead'), await claim('living')];
    assert.ok(dead !== null && living !== null);
    await clock.set('-1 hour');
    const watched = await watch();
    await watched.stop();
    assert.equal(await claim('other'), null);
    await clock.set('-59 minutes');
    assert.equal(await extendLease(clock.db, living, 15_000), 'done');
    await clock.set('-58.9 minutes');
    const takenOver = await claim('other');
    assert.equal(takenOver?.job_id, dead.job_id);
    assert.equal(await claim('other'), null);
    for (const job of [takenOver, living]) {
      assert.ok(admitted.includes(job.job_id));
      await failJob(database.db, job, 'engine_failed');
    }
  });

  it('goes back, and a project whose work was begun by then has its turn as before', async () => {
    const [ahead, other] = await Promise.all(
      Array.from({ length: 2 }, async () => createTestKey(database.db, await createTestProject(database.db))),
    );
    assert.ok(ahead !== undefined && other !== undefined);
    for (const key of [ahead, ahead, other, other]) await admitTestLearning(database.db, key);
    await clock.set('400 hours');
    assert.equal((await claim('w'))?.project_id, ahead.project_id);
    await clock.set('0');
    const claimed = [await claim('w'), await claim('w')].map((job) => job?.project_id);
    assert.deepEqual(claimed.sort(), [ahead.project_id, other.project_id].sort());
  });
});
