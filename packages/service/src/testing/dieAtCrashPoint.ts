/**
 * A fault injector, for `node --import`. It ends or stops its process by a signal at a crash point, which the variable
 * `ENGRAFT_TEST_CRASH_ORDER` names from the start, or the parent later, over IPC. No product code imports this, so only
 * whoever starts a process can make it crash.
 */
import { subscribe } from 'node:diagnostics_channel';
import { crashPointChannel } from '../crashPoints.js';
import { type CrashOrder, crashOrder } from './crashOrder.js';

function obey(first: CrashOrder | null): void {
  let order = first;
  subscribe(crashPointChannel, (name) => {
    if (order === null || name !== order.crash_point) return;
    order = { ...order, passing: order.passing - 1 };
    if (order.passing === 0) process.kill(process.pid, order.signal ?? 'SIGKILL');
  });
  if (process.send === undefined) return;
  process.on('message', (message) => {
    const given = crashOrder.safeParse(message);
    if (!given.success) return;
    order = given.data;
    process.send?.('armed');
  });
}

const given = process.env['ENGRAFT_TEST_CRASH_ORDER'];
obey(given === undefined ? null : crashOrder.parse(JSON.parse(given)));
