import { performance } from 'node:perf_hooks';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/schema.js';
import type { ClaimedJob } from '../jobs/claimJob.js';
import { extendLease } from '../jobs/extendLease.js';
import { LeaseLost } from './jobContext.js';

export interface KeptLease {
  /** Aborts with `LeaseLost` as soon as another worker has, or could have, the job. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Extends the lease every third of its time. The run ends with the lease, even if the database never answers. */
export function keepLease(
  db: Kysely<Database>,
  lease: Pick<ClaimedJob, 'job_id' | 'fencing_token' | 'held_until_ms'>,
  leaseMs: number,
  logger: Logger,
): KeptLease {
  const controller = new AbortController();
  let stopped = false;
  let extending = false;

  const stop = (): void => {
    stopped = true;
    clearInterval(beats);
    clearTimeout(end);
  };
  const lose = (why: string): void => {
    stop();
    controller.abort(new LeaseLost(why));
  };
  const loseAt = (heldUntilMs: number): NodeJS.Timeout =>
    setTimeout(() => lose('the lease could not be extended in time'), heldUntilMs - performance.now());

  const beat = async (): Promise<void> => {
    if (extending) return;
    extending = true;
    // The lease runs from when the database writes it, which is not before now.
    const heldUntilMs = performance.now() + leaseMs;
    try {
      const extended = await extendLease(db, lease, leaseMs);
      if (stopped) return;
      if (extended === 'lost') {
        lose('the lease has passed to another worker');
        return;
      }
      clearTimeout(end);
      end = loseAt(heldUntilMs);
    } catch (error) {
      logger.warn({ err: error, job_id: lease.job_id }, 'the lease could not be extended');
    } finally {
      extending = false;
    }
  };
  let end = loseAt(lease.held_until_ms);
  const beats = setInterval(() => void beat(), leaseMs / 3);

  return { signal: controller.signal, stop };
}
