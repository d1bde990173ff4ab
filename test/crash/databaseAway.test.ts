import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngraftApiError } from '@engraft/client';
import type { CrashPoint } from '@engraft/service/testing/crashOrder.js';
import { DatabaseProxy } from '@engraft/service/testing/databaseProxy.js';
import { CrashTest, noFaults } from './crashTest.js';
import { at, type Drive, passage, question } from './driveKinds.js';

/** For hours on demand: how long the database is away each time. */
const { ENGRAFT_OUTAGE_SECONDS: outageSeconds } = process.env;
const momentMs = outageSeconds === undefined ? 500 : Number(outageSeconds) * 1_000;
/** Longer than a lease: the worker has lost its job when the database is back. */
const leaseLostMs = Math.max(momentMs, 20_000);

type Work = Extract<Drive, { by: 'work' }>;

/** In the middle of each phase of both kinds of jobs, and in between. */
const moments: readonly (readonly [CrashPoint, Drive])[] = [
  ['admission.committed', passage],
  ['job.claimed', passage],
  ['learning.begun', passage],
  ['phase.entered', at([1, 2, 3, 4, 5, 6], passage)],
  ['phase.stored', at([1, 2, 3, 4], passage)],
  ['adapter.recorded', passage],
  ['copy.begun', passage],
  ['copy.named', passage],
  ['learning.settled', passage],
  ['job.claimed', question],
  ['inference.settled', question],
];

const linuxOnly = { skip: process.platform !== 'linux' };

/** Repeats a request that gets 503, as clients do: the service may notice a lost connection only when it uses it. */
async function onceAvailable<Result>(request: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const isAway = error instanceof EngraftApiError && error.code === 'service_unavailable';
      if (!isAway || attempt === 100) throw error;
      await sleep(100);
    }
  }
}

/** The real service but for the model, whose database goes away and comes back while it runs on. */
describe('a service without its database for a while', linuxOnly, () => {
  let proxy: DatabaseProxy;
  let test: CrashTest;
  before(async () => {
    proxy = await DatabaseProxy.open();
    test = await CrashTest.open((url) => proxy.reach(url));
    await test.service.start();
  });
  after(async () => {
    await test.release();
    await proxy.close();
  });

  async function assertMadeGood(): Promise<void> {
    await onceAvailable(() => test.catchUp());
    assert.deepEqual(await test.findFaults(), noFaults);
    const { rows } = await test.database.query(
      `SELECT id, error_code FROM jobs WHERE status NOT IN ('ready', 'succeeded')`,
    );
    assert.deepEqual(rows, [], 'no job fails for want of a database');
  }

  async function goAway(crashPoint: CrashPoint, passing: number, { act }: Work, awayMs: number): Promise<void> {
    await test.service.arm({ crash_point: crashPoint, passing, signal: 'SIGSTOP' });
    const acting = act(test);
    await test.service.stopped();
    proxy.cut();
    test.service.signal('SIGCONT');
    await sleep(awayMs);
    proxy.mend();
    await acting;
    await assertMadeGood();
  }

  for (const [crashPoint, drive] of moments) {
    if (drive.by !== 'work') continue;
    const kind = drive === question ? 'a question' : 'a passage';
    for (const passing of drive.passings ?? [1]) {
      it(`loses nothing of ${kind}: after ${crashPoint}, passing ${passing}`, () =>
        goAway(crashPoint, passing, drive, momentMs));
    }
  }

  it('loses nothing when it is away for longer than a lease, in a training', async () => {
    await goAway('phase.entered', 3, passage as Work, leaseLostMs);
  });

  for (const made of [true, false]) {
    it(`charges once where a commit was ${made ? 'made' : 'not made'} and nobody was told`, async () => {
      let commit = 0;
      for (let isHit = true; isHit;) {
        commit += 1;
        const failed = proxy.cutIn({ commit, made });
        const ended = Promise.all([test.learn(), test.ask()]).then(() => test.ended());
        await Promise.race([failed, ended]);
        isHit = !proxy.disarm();
        if (isHit) await failed;
        proxy.mend();
        await onceAvailable(() => test.resend());
        await test.ended();
      }
      // Work of a job whose end its worker was not told of goes with the next round of retention.
      await test.service.kill();
      await test.service.start();
      await assertMadeGood();
      // A job has more transactions than that.
      assert.ok(commit > 6, `it went away in ${commit - 1} commits`);
    });
  }
});
