import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/schema.js';
import { shortenLeases } from '../jobs/shortenLeases.js';
import { type ClockReading, minJumpMs, measureJump } from './measureJump.js';
import { observeClock, type ClockSighting } from './observeClock.js';

/** A shorter stop of the service is not worth mentioning. */
const minAbsenceMs = 24 * 3_600_000;
const defaultIntervalMs = 30_000;

export interface ClockWatchOptions {
  readonly db: Kysely<Database>;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly intervalMs?: number;
}

export interface ClockWatch {
  stop(): Promise<void>;
}

/**
 * Watches the database's clock, which decides everything here, now and every half minute. It checks that the clock
 * moves on as time does and agrees with this machine's. It logs and counts faults, and shortens leases that a fast
 * clock has made too long. Resolves after the first look, which compares with the time seen before this start.
 */
export async function watchClock({
  db,
  logger,
  metrics,
  intervalMs = defaultIntervalMs,
}: ClockWatchOptions): Promise<ClockWatch> {
  const report = createReport(logger, metrics);
  const stopping = new AbortController();
  const { signal } = stopping;
  let earlier: ClockReading | null = null;

  const look = async (): Promise<void> => {
    try {
      const askedMs = performance.now();
      const sighting = await observeClock(db);
      const reading = { databaseMs: sighting.now_ms, askedMs, answeredMs: performance.now() };
      if (earlier === null) report.absence(sighting);
      else report.jump(measureJump(earlier, reading));
      earlier = reading;
      report.difference(Date.now() - sighting.now_ms);
      await shortenLeases(db);
    } catch (error) {
      logger.warn({ err: error }, 'the clock could not be read');
    }
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await look();
    }
  };
  await look();
  const looping = loop();
  return {
    stop: () => {
      stopping.abort();
      return looping;
    },
  };
}

const forward =
  "the database's clock jumped forward: the machine slept, or its clock was set. At most seven days of hosting are " +
  'charged for it. If it is ahead, set it right: versions that expired by it come back';
const back =
  "the database's clock jumped back: deadlines, leases and limits that lie too far ahead are shortened. " +
  'If it is behind, set it right';
const absence =
  'more than a day has passed by the clock since the service last ran: it was stopped, or the clock was set. ' +
  'At most seven days of hosting are charged for it, and expired files stay for another hour';

/** Reports about the clock, in the log and as metrics. */
function createReport(logger: Logger, metrics: Registry) {
  const registers = [metrics];
  const jumps = new Counter({
    name: 'engraft_clock_jumps_total',
    help: "Jumps of the database's clock by more than a minute that this process has noticed.",
    labelNames: ['direction'] as const,
    registers,
  });
  for (const direction of ['forward', 'back'] as const) jumps.inc({ direction }, 0);
  const difference = new Gauge({
    name: 'engraft_clock_difference_seconds',
    help: "How far this machine's clock is ahead of the database's.",
    registers,
  });
  let differs = false;
  const jump = (jumpMs: number): void => {
    if (Math.abs(jumpMs) < minJumpMs) return;
    jumps.inc({ direction: jumpMs > 0 ? 'forward' : 'back' });
    logger.error({ jump_seconds: Math.round(jumpMs / 1000) }, jumpMs > 0 ? forward : back);
  };
  return {
    jump,
    absence: ({ now_ms, seen_ms }: ClockSighting): void => {
      const absentMs = now_ms - seen_ms;
      if (absentMs < 0) jump(absentMs);
      if (absentMs < minAbsenceMs) return;
      logger.warn({ absent_seconds: Math.round(absentMs / 1000) }, absence);
    },
    difference: (differenceMs: number): void => {
      difference.set(differenceMs / 1000);
      const differed = differs;
      differs = Math.abs(differenceMs) > minJumpMs;
      if (!differs || differed) return;
      const differenceSeconds = Math.round(differenceMs / 1000);
      logger.error(
        { difference_seconds: differenceSeconds },
        "this machine's clock and the database's differ: one of them is wrong",
      );
    },
  };
}
