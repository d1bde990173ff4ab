// One release takes the place of another on one database, while clients ask and learn.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lookAfterwards } from '../faults/afterwards.mjs';
import { Askers } from '../faults/askers.mjs';
import { messageOf, nothingYet } from '../faults/report.mjs';
import { root } from '../lib/measure.mjs';
import { RequestCounts } from './requestCounts.mjs';

/** How long a process still serves when balancers are told that it goes, as in the Helm chart. */
const drainMs = 5_000;

/**
 * @param fleet whose database is of the older release
 * @param {{ olderFolder: string, seconds: number, repeat: string }} plan `seconds` is the least of the older release
 *   alone, of both, and of the newer alone
 */
export async function rollOver(fleet, { olderFolder, seconds, repeat }) {
  const counts = new RequestCounts();
  const older = await startBoth(fleet, olderFolder);
  // Those that a balancer sends requests to, in turn.
  let apis = [older.api];
  let turn = 0;
  const nextClient = () => counts.counted(apis[(turn += 1) % apis.length].client);
  const askers = new Askers(nextClient, readFileSync(join(root, 'examples/lamp.txt'), 'utf8'));
  const calm = async () => {
    await delay(1e3 * seconds);
    await askers.nextAnswer();
  };
  const failures = [];
  try {
    counts.enter('old alone');
    askers.begin();
    await calm();
    counts.enter('old, while new starts');
    const newer = await startBoth(fleet, root);
    apis = [older.api, newer.api];
    counts.enter('both');
    await calm();
    counts.enter('new, while old drains');
    apis = [newer.api];
    failures.push(...(await drain(older)));
    counts.enter('new alone');
    await calm();
    await askers.end();
    await Promise.all([newer.api.stop(), newer.worker.stop()]);
  } catch (error) {
    askers.abandon();
    failures.push(messageOf(error));
  }
  const phases = counts.end();
  return { phases, ...(await whatIsLeft(fleet, { askers, repeat, faults: [...failures, ...counts.refusals] })) };
}

async function startBoth(fleet, folder) {
  const [api, worker] = await Promise.all([fleet.startApi(folder), fleet.startWorker(folder)]);
  return { api, worker };
}

/** @returns {Promise<string[]>} what went wrong */
async function drain({ api, worker }) {
  await delay(drainMs);
  const statuses = await Promise.all([api.stop(), worker.stop()]);
  return statuses.filter((status) => status !== 0).map((status) => `an old process ended with status ${status}`);
}

async function whatIsLeft(fleet, { askers, repeat, faults }) {
  const figures = nothingYet();
  for (const what of new Set([...faults, ...askers.faults])) figures.failures.push({ what, repeat });
  const { databaseUrl, dataFolder } = fleet;
  await lookAfterwards({ databaseUrl, dataFolder, receipts: askers.receipts(), figures, repeat });
  const isLedgerRight = await fleet.command('ledger', 'verify').then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isLedgerRight) figures.failures.push({ what: 'the ledger does not agree with its entries', repeat });
  const { jobs, lost_jobs, double_charges, failures } = figures;
  return { jobs, lost_jobs, double_charges, ledger_ok: isLedgerRight, failures };
}
