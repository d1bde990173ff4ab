import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { findEndedJobs } from './findEndedJobs.js';

/** Waits for jobs, whichever process runs them. */
export interface JobWatcher {
  /**
   * Resolves when the job has ended or needs an operator (true), and after `duration_ms`, when `signal` is aborted
   * or when the watcher closes (false). Never rejects: what the job is then, its row says.
   */
  wait(job_id: string, duration_ms: number, signal: AbortSignal): Promise<boolean>;
  /** Nobody waits longer than this from now on. */
  close(grace_ms: number): void;
}

/** What a caller waits longer than necessary, at most. */
const poll_ms = 50;
/** While the database cannot be asked. */
const failed_poll_ms = 1_000;

type Resolve = (ended: boolean) => void;

/**
 * One query at a time asks for all the jobs that are waited for, however many callers wait, and none is made while
 * nobody does. (LISTEN would need a connection of its own, and NOTIFY serialises the commits of all workers.)
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
      // Whoever waits reads the job at the end, and meets the error if it is still there.
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
