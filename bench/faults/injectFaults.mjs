// Faults one after another while clients ask, each with the time until a question is answered again.
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from './report.mjs';

/**
 * Injects faults in turn until it is over, and waits for the end of all jobs. Whatever goes wrong is a failure.
 * @param {{ askers: import('./askers.mjs').Askers, victims: Record<string, () => Promise<void>>, calmMs: () => number,
 *   isOver: () => boolean, repeat: string,
 *   figures: ReturnType<typeof import('./report.mjs').nothingYet> & { recoveries: object[] } }} plan `calmMs` says how
 *   long to wait before the next fault
 */
export async function injectFaults({ askers, victims, calmMs, isOver, figures, repeat }) {
  const names = Object.keys(victims);
  askers.begin();
  try {
    await askers.nextAnswer();
    while (!isOver()) {
      await delay(calmMs());
      const victim = names[figures.faults % names.length];
      figures.faults += 1;
      const beganMs = performance.now();
      await victims[victim]();
      await askers.nextAnswer();
      const seconds = (performance.now() - beganMs) / 1e3;
      figures.recoveries_s.push(seconds);
      figures.recoveries.push({ victim, seconds });
      console.log(`${victim}: answered again after ${seconds.toFixed(1)} s`);
    }
    await askers.end();
  } catch (error) {
    askers.abandon();
    figures.failures.push({ what: messageOf(error), repeat });
  }
  // A client that gave up is told of once.
  for (const what of new Set(askers.faults)) figures.failures.push({ what, repeat });
}
