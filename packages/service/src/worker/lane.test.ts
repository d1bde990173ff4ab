import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'node:test';
import { pino } from 'pino';
import { startLane } from './lane.js';

it('a lane claims nothing while its jobs could not be run', async () => {
  const waiting = ['first', 'second'];
  const ran: string[] = [];
  let isReady = false;
  let asked = 0;
  const lane = startLane<string>({
    concurrency: 1,
    pollMs: 1,
    claim: () => Promise.resolve(waiting.shift() ?? null),
    ready: () => {
      asked += 1;
      return isReady;
    },
    run: (job) => {
      ran.push(job);
      return Promise.resolve();
    },
    logger: pino({ level: 'silent' }),
  });
  lane.wake();
  while (asked < 5) await sleep(1);
  assert.deepEqual([waiting.length, ran], [2, []]);
  isReady = true;
  while (ran.length < 2) await sleep(1);
  await lane.drain();
  assert.deepEqual(ran, ['first', 'second']);
});
