import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';
import type { LeasedWrite } from '../jobs/jobLease.js';

const databaseRetryMs = 200;

/** Repeats a write for as long as the lease may be ours. Nothing is wrong with the job when the database is away. */
export async function whenDatabaseIsBack(write: () => Promise<LeasedWrite>, lease: AbortSignal): Promise<LeasedWrite> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await sleep(databaseRetryMs, undefined, { signal: lease });
    }
  }
}
