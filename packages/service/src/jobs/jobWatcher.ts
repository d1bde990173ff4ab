import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { findEndedJobs } from './findEndedJobs.js';

/** Waits for jobs, whichever process runs them. */
export interface JobWatcher {
  /**
   * Resolves with true when the job has ended or needs an operator. Resolves with false after `duration_ms`, when
   * `signal` aborts, or when the watcher closes. Never rejects; the job's row then has its state.
   */
  wait(job_id: string, duration_ms: number, signal: AbortSignal): Promise<boolean>;
  /** From now on nobody waits longer than this. */
  close(grace_ms: number): void;
}

/** The longest that a caller waits more than necessary. */
const poll_ms = 50;
/** The pause while the database cannot be asked. */
const failed_poll_ms = 1_000;

type Resolve = (ended: boolean) => void;

/**
 * One query at a time asks about all jobs that are waited for, however many callers wait. None is made while nobody
 * waits. (LISTEN would need a connection of its own, and NOTIFY serialises the commits of all workers.)
 */
export function startJobWatcher(db: Kysely<Database>): JobWatcher {
  const waiting = new Map<string, Set<Resolve>>();
  let polling = false;
  let closes_at = Infinity;

  const poll = async (): Promise<void> => {
    let pause_ms = poll_ms;
    try {
      for (const job_id of await findEndedJobs(db, [...waiting.keys()])) {
        for (const resolve of waiting.get(job_id) ?? []) resolve(true);
      }
    } catch {
      // A waiting caller reads the job in the end, and meets the error if it is still there.
      pause_ms = failed_poll_ms;
    }
    schedule(pause_ms);
  };
  const schedule = (pause_ms: number): void => {
    polling = waiting.size > 0;
    if (polling) setTimeout(() => void poll(), pause_ms);
  };

  return {
    wait: async (job_id, duration_ms, signal) => {
      if (signal.aborted) return false;
      return new Promise<boolean>((settled) => {
        const resolve: Resolve = (ended) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolvers.delete(resolve);
          if (resolvers.size === 0) waiting.delete(job_id);
          settled(ended);
        };
        const giveUp = (): void => resolve(false);
        const timer = setTimeout(giveUp, Math.max(0, Math.min(duration_ms, closes_at - Date.now())));
        signal.addEventListener('abort', giveUp, { once: true });
        const resolvers = waiting.get(job_id) ?? new Set();
        waiting.set(job_id, resolvers.add(resolve));
        if (!polling) schedule(poll_ms);
      });
    },
    close: (grace_ms) => {
      closes_at = Date.now() + grace_ms;
      setTimeout(() => {
        for (const resolve of [...waiting.values()].flatMap((resolvers) => [...resolvers])) resolve(false);
      }, grace_ms).unref();
    },
  };
}
