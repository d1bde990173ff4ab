import type { Kysely } from 'kysely';
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

/** How the inference job ended, or that it still has not when the time is over. */
export async function awaitInference(
  db: Kysely<Database>,
  watcher: JobWatcher,
  { job_id, wait_ms, signal }: InferenceWait,
): Promise<InferenceOutcome> {
  const outcome = await readInferenceOutcome(db, job_id);
  if (outcome.kind !== 'pending' || wait_ms === 0) return outcome;
  await watcher.wait(job_id, wait_ms, signal);
  return readInferenceOutcome(db, job_id);
}
