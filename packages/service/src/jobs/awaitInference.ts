import type { Kysely } from 'kysely';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';
import type { Database } from '../db/schema.js';
import type { JobWatcher } from './jobWatcher.js';
import { readInferenceOutcome, type InferenceOutcome } from './readInferenceOutcome.js';

export interface InferenceWait {
  readonly job_id: string;
  /** 0 returns the job's current state. */
  readonly waitMs: number;
  /** Aborts when nobody waits any more. The job goes on. */
  readonly signal: AbortSignal;
}

/**
 * How the inference job ended, or that it has not when the time is over. It also counts as open if the database cannot
 * be asked: the job is admitted, and a retryable error would make the caller send it again, as a second job.
 */
export async function awaitInference(
  db: Kysely<Database>,
  watcher: JobWatcher,
  { job_id, waitMs, signal }: InferenceWait,
): Promise<InferenceOutcome> {
  const outcome = await readIfReachable(db, job_id);
  if (outcome.kind !== 'pending' || waitMs === 0) return outcome;
  await watcher.wait(job_id, waitMs, signal);
  return readIfReachable(db, job_id);
}

async function readIfReachable(db: Kysely<Database>, jobId: string): Promise<InferenceOutcome> {
  try {
    return await readInferenceOutcome(db, jobId);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { kind: 'pending' };
    throw error;
  }
}
