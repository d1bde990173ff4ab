// What a service must have left behind after faults: every job that was admitted, each charged once, and nothing else.
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../packages/service/dist/db/database.js';
import { findAftermath, findDoubleCharges } from '../../packages/service/dist/testing/aftermath.js';

/** How long what is left behind may take to be cleaned up. */
const cleanUpMs = 20_000;

/**
 * Counts jobs, lost ones and double charges into the figures, and adds a failure for each fault that it finds. Nobody
 * may be at work on the database.
 * @param {{ databaseUrl: string, dataFolder: string, receipts: string[], repeat: string,
 *   figures: ReturnType<typeof import('./report.mjs').nothingYet> }} what
 */
export async function lookAfterwards({ databaseUrl, dataFolder, receipts, figures, repeat }) {
  const listed = await listJobs(databaseUrl);
  const lost = receipts.filter((id) => !listed.has(id));
  const unasked = [...listed].filter((id) => !receipts.includes(id));
  const chargedTwice = [...(await findDoubleCharges(databaseUrl)), ...unasked.map((id) => `nobody asked for ${id}`)];
  const deadlineMs = performance.now() + cleanUpMs;
  let left = await findAftermath(databaseUrl, dataFolder);
  while (left.length > 0 && performance.now() < deadlineMs) {
    await delay(200);
    left = await findAftermath(databaseUrl, dataFolder);
  }
  figures.jobs = listed.size;
  figures.lost_jobs = lost.length;
  figures.double_charges = chargedTwice.length;
  const sentences = [...lost.map((id) => `the job of receipt ${id} is lost`), ...chargedTwice, ...left];
  figures.failures.push(...sentences.map((what) => ({ what, repeat })));
}

async function listJobs(databaseUrl) {
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  const jobs = await db.selectFrom('jobs').select('id').execute();
  await db.destroy();
  return new Set(jobs.map(({ id }) => id));
}
