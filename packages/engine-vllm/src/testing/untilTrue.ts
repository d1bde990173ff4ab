import { setTimeout as sleep } from 'node:timers/promises';

/** Far longer than anything takes but learning, and the start of a large server. */
const defaultPatienceMs = 120_000;
const pollMs = 20;

/** @throws Error if it takes too long */
export async function untilTrue(holds: () => Promise<boolean>, patienceMs = defaultPatienceMs): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) throw new Error(`it did not come true within ${patienceMs} ms`);
    await sleep(pollMs);
  }
}
