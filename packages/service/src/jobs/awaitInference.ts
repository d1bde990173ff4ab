import type { Kysely } from 'kysely';
import { isDatabaseUnavailable } from '../db/databaseErrors.js';
import type { Database } from '../db/schema.js';
import type { JobWatcher } from './jobWatcher.js';
import { readInferenceOutcome, type InferenceOutcome } from './readInferenceOutcome.js';

export interface InferenceWait {
  readonly job_id: string;
  /** 0: as the job stands now. */
  readonly wait_ms: number;
  /** Aborted when nobody wants to know any more. The job goes on. */
  readonly signal: AbortSignal;
}

/**
 * How the inference job ended, or that it still has not when the time is over. Nor has it for whoever cannot ask the
 * database: the job is admitted, and an error that may be repeated would be taken for leave to send it again, as a
 * second job.
 */
export async function awaitInference(
  db: Kysely<Database>,
  watcher: JobWatcher,
  { job_id, wait_ms, signal }: InferenceWait,
): Promise<InferenceOutcome> {
  const outcome = await readIfReachable(db, job_id);
  if (outcome.kind !== 'pending' || wait_ms === 0) return outcome;
  await watcher.wait(job_id, wait_ms, signal);
  return readIfReachable(db, job_id);
}

async function readIfReachable(db: Kysely<Database>, job_id: string): Promise<InferenceOutcome> {
  try {
    return await readInferenceOutcome(db, job_id);
  } catch (error) {
    if (isDatabaseUnavailable(error)) return { kind: 'pending' };
    throw error;
  }
}
