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

/** Within the time of a lease. */
const beatsPerLease = 5;
const maxAttemptsAtOnce = 3;

/**
 * Extends the lease five times within its time. An attempt that hangs is not waited for, since the next one may get
 * through. The run ends with the lease, even if the database never answers.
 */
export function keepLease(
  db: Kysely<Database>,
  lease: Pick<ClaimedJob, 'job_id' | 'fencing_token' | 'held_until_ms'>,
  leaseMs: number,
  logger: Logger,
): KeptLease {
  const controller = new AbortController();
  let stopped = false;
  let attemptsAtOnce = 0;
  let heldUntilMs = lease.held_until_ms;

  const stop = (): void => {
    stopped = true;
    clearInterval(beats);
    clearTimeout(end);
  };
  const lose = (why: string): void => {
    stop();
    controller.abort(new LeaseLost(why));
  };
  const loseInTime = (): NodeJS.Timeout =>
    setTimeout(() => lose('the lease could not be extended in time'), heldUntilMs - performance.now());

  const beat = async (): Promise<void> => {
    if (attemptsAtOnce === maxAttemptsAtOnce) return;
    attemptsAtOnce += 1;
    // The lease runs from when the database writes it, which is not before now.
    const extendedUntilMs = performance.now() + leaseMs;
    try {
      const extended = await extendLease(db, lease, leaseMs);
      if (stopped) return;
      if (extended === 'lost') {
        lose('the lease has passed to another worker');
        return;
      }
      // A late answer to an early attempt takes nothing back.
      heldUntilMs = Math.max(heldUntilMs, extendedUntilMs);
      clearTimeout(end);
      end = loseInTime();
    } catch (error) {
      logger.warn({ err: error, job_id: lease.job_id }, 'the lease could not be extended');
    } finally {
      attemptsAtOnce -= 1;
    }
  };
  let end = loseInTime();
  const beats = setInterval(() => void beat(), leaseMs / beatsPerLease);

  return { signal: controller.signal, stop };
}
