// A death at every named crash point, by the code of test/crash, in an order of the seed's; with `--minutes` as many as
// there is time for, round after round.
import { createRandom } from '../../packages/engine/dist/support/random.js';
import { crashAndRecover, crashes, firstStartPoints } from '../../test/dist/crash/crashAndRecover.js';
import { crashFirstStart } from '../../test/dist/crash/crashFirstStart.js';
import { CrashTest } from '../../test/dist/crash/crashTest.js';
import { shuffled } from '../lib/statistics.mjs';
import { messageOf, nothingYet } from './report.mjs';

export async function crashEverywhere({ seed, minutes }) {
  const figures = { ...nothingYet(), crash_points: 0 };
  const tried = new Set(firstStartPoints);
  const repeat = `npm run bench -- faults --only crashes --seed ${seed}`;
  const fail = (what) => figures.failures.push({ what, repeat });
  // A fault is found again after every later crash, and counts once.
  const found = { lost_jobs: new Set(), double_charges: new Set(), left_behind: new Set() };
  const test = await CrashTest.open();
  try {
    await crashFirstStart(test).catch((error) => fail(`a first start: ${messageOf(error)}`));
    figures.faults += firstStartPoints.length;
    const random = createRandom(seed);
    const deadlineMs = performance.now() + (minutes ?? 0) * 60_000;
    for (const crash of inRounds(minutes === undefined ? 1 : Infinity, random)) {
      if (minutes !== undefined && performance.now() > deadlineMs) break;
      const { crash_point, passing } = crash.order;
      tried.add(crash_point);
      figures.faults += 1;
      try {
        const { faults, recovery_ms } = await crashAndRecover(test, crash);
        figures.recoveries_s.push(recovery_ms / 1e3);
        for (const [kind, sentences] of Object.entries(faults)) {
          for (const what of sentences.filter((sentence) => !found[kind].has(sentence))) {
            found[kind].add(what);
            fail(`${crash_point}, passing ${passing}: ${what}`);
          }
        }
      } catch (error) {
        fail(`${crash_point}, passing ${passing}: ${messageOf(error)}`);
        await test.service.kill().catch(() => undefined);
      }
    }
    figures.crash_points = tried.size;
    figures.jobs = await test.countJobs();
    figures.lost_jobs = found.lost_jobs.size;
    figures.double_charges = found.double_charges.size;
  } finally {
    await test.release();
  }
  return figures;
}

/** All crashes, in another order each round. */
function* inRounds(rounds, random) {
  for (let round = 0; round < rounds; round += 1) yield* shuffled(crashes, () => random.next());
}
