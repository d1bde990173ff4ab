import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { findEndedJobs } from './findEndedJobs.js';

/** Waits for jobs, whichever process runs them. */
export interface JobWatcher {
  /**
   * Resolves with true when the job has ended or needs an operator. Resolves with false after `durationMs`, when
   * `signal` aborts, or when the watcher closes. Never rejects; the job's row then has its state.
   */
  wait(jobId: string, durationMs: number, signal: AbortSignal): Promise<boolean>;
  /** From now on nobody waits longer than this. */
  close(graceMs: number): void;
}

/** The longest that a caller waits more than necessary. */
const pollMs = 50;
/** The pause while the database cannot be asked. */
const failedPollMs = 1_000;

type Resolve = (ended: boolean) => void;

/**
 * One query at a time asks about all jobs that are waited for, however many callers wait. None is made while nobody
 * waits. (LISTEN would need a connection of its own, and NOTIFY serialises the commits of all workers.)
 */
export function startJobWatcher(db: Kysely<Database>): JobWatcher {
  const waiting = new Map<string, Set<Resolve>>();
  let polling = false;
  let closesAt = Infinity;

  const poll = async (): Promise<void> => {
    let pauseMs = pollMs;
    try {
      for (const jobId of await findEndedJobs(db, [...waiting.keys()])) {
        for (const resolve of waiting.get(jobId) ?? []) resolve(true);
      }
    } catch {
      // A waiting caller reads the job in the end, and meets the error if it is still there.
      pauseMs = failedPollMs;
    }
    schedule(pauseMs);
  };
  const schedule = (pauseMs: number): void => {
    polling = waiting.size > 0;
    if (polling) setTimeout(() => void poll(), pauseMs);
  };

  return {
    wait: async (jobId, durationMs, signal) => {
      if (signal.aborted) return false;
      return new Promise<boolean>((settled) => {
        const resolve: Resolve = (ended) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolvers.delete(resolve);
          if (resolvers.size === 0) waiting.delete(jobId);
          settled(ended);
        };
        const giveUp = (): void => resolve(false);
        const timer = setTimeout(giveUp, Math.max(0, Math.min(durationMs, closesAt - Date.now())));
        signal.addEventListener('abort', giveUp, { once: true });
        const resolvers = waiting.get(jobId) ?? new Set();
        waiting.set(jobId, resolvers.add(resolve));
        if (!polling) schedule(pollMs);
      });
    },
    close: (graceMs) => {
      closesAt = Date.now() + graceMs;
      setTimeout(() => {
        for (const resolve of [...waiting.values()].flatMap((resolvers) => [...resolvers])) resolve(false);
      }, graceMs).unref();
    },
  };
}
