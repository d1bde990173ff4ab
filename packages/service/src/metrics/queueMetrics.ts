import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/schema.js';
import { cacheFor } from '../cacheFor.js';
import { type Queue, readQueue } from '../jobs/readQueue.js';

const freshMs = 5_000;
/** The longest that a reader of metrics waits for the database. The other metrics matter most when it is away. */
const patienceMs = 2_000;

/**
 * Counts the jobs that wait and run in the whole database, on demand and the same from every process. While the
 * database does not answer there are no such numbers, and at most one query waits for it.
 */
export function watchQueue(db: Kysely<Database>, registry: Registry): void {
  const read = cacheFor(
    freshMs,
    () => readQueue(db),
    () => performance.now(),
  );
  const registers = [registry];
  const openJobs = new Gauge({
    name: 'engraft_open_jobs',
    help: 'Jobs of all projects that have not ended; the same number from every process.',
    labelNames: ['kind', 'status'] as const,
    registers,
    async collect() {
      openJobs.reset();
      for (const { kind, ...counts } of (await soon(read)) ?? []) {
        for (const status of ['queued', 'running', 'reconciliation_required'] as const) {
          openJobs.set({ kind, status }, counts[status]);
        }
      }
    },
  });
  const oldest = new Gauge({
    name: 'engraft_queue_oldest_seconds',
    help: 'Time since the admission of the oldest job that is queued, 0 without one; the same from every process.',
    labelNames: ['kind'] as const,
    registers,
    async collect() {
      oldest.reset();
      for (const { kind, oldest_seconds } of (await soon(read)) ?? []) oldest.set({ kind }, oldest_seconds);
    },
  });
  new Gauge({
    name: 'engraft_database_reachable',
    help: '1 if the database answers within two seconds.',
    registers,
    async collect() {
      this.set((await soon(read)) === null ? 0 : 1);
    },
  });
}

/** `null` if there is no answer soon. */
async function soon(read: () => Promise<readonly Queue[]>): Promise<readonly Queue[] | null> {
  const answered = new AbortController();
  const late = sleep(patienceMs, null, { signal: answered.signal }).catch(() => null);
  try {
    return await Promise.race([read(), late]);
  } catch {
    return null;
  } finally {
    answered.abort();
  }
}
