import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/schema.js';
import { extendLease } from '../jobs/extendLease.js';
import { type JobLease } from '../jobs/jobLease.js';
import { LeaseLost } from './jobContext.js';

export interface KeptLease {
  /** Aborted with `LeaseLost` as soon as another worker has, or could have, the job. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Extends the lease every third of its time. */
export function keepLease(db: Kysely<Database>, lease: JobLease, lease_ms: number, logger: Logger): KeptLease {
  const controller = new AbortController();
  let held_until_ms = Date.now() + lease_ms;
  let extending = false;

  const beat = async (): Promise<void> => {
    if (extending) return;
    extending = true;
    // The lease runs from when the database writes it, which is not before now.
    const asked_at_ms = Date.now();
    try {
      if ((await extendLease(db, lease, lease_ms)) === 'done') held_until_ms = asked_at_ms + lease_ms;
      else controller.abort(new LeaseLost('the lease has passed to another worker'));
    } catch (error) {
      logger.warn({ err: error, job_id: lease.job_id }, 'the lease could not be extended');
    } finally {
      extending = false;
    }
  };
  const timer = setInterval(() => {
    if (Date.now() >= held_until_ms) controller.abort(new LeaseLost('the lease could not be extended in time'));
    else void beat();
  }, lease_ms / 3);

  return {
    signal: controller.signal,
    stop: () => {
      clearInterval(timer);
    },
  };
}
