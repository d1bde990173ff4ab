import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/** The database's clock, and what it said when it was last seen. In milliseconds since 1970. */
export interface ClockSighting {
  readonly now_ms: number;
  readonly seen_ms: number;
  /** When it was last found more than a day ahead of the time before. `null` if never. */
  readonly leapt_ms: number | null;
}

/** A smaller leap takes too little off the days for which expired files stay to be a reason to wait. */
const leapHours = 24;
/** Enough time for a machine that has just started to set its clock, and for this to be noticed. */
const unsteadyHours = 1;

/**
 * The time by which things are old enough to be deleted: the last time that was seen, so that a jump deletes nothing
 * before anybody has noticed it. NULL for an hour after the clock, or the service, has come back from more than a day
 * away.
 */
export const steadyTime = sql<Date | null>`(select seen_at from clock
  where leapt_at is null or leapt_at <= seen_at - ${unsteadyHours} * interval '1 hour')`;

/** Reads the database's clock and records that it was seen. */
export async function observeClock(db: Kysely<Database>): Promise<ClockSighting> {
  const { rows } = await sql<ClockSighting>`
    with before as (select seen_at, leapt_at, clock_timestamp() as now from clock for no key update)
    update clock set
      seen_at = before.now,
      -- A leap that lies ahead was recorded by a clock that has gone back since.
      leapt_at = case
        when before.now > before.seen_at + ${leapHours} * interval '1 hour' then before.now
        when before.leapt_at > before.now then before.now
        else before.leapt_at end
    from before
    returning ${milliseconds('clock.seen_at')} as now_ms, ${milliseconds('before.seen_at')} as seen_ms,
      ${milliseconds('clock.leapt_at')} as leapt_ms
  `.execute(db);
  crashPoint('clock.observed');
  return onlyRow(rows);
}

/** Reads the same without recording it. */
export async function readClock(db: Kysely<Database>): Promise<ClockSighting> {
  const { rows } = await sql<ClockSighting>`
    select ${milliseconds('clock_timestamp()')} as now_ms, ${milliseconds('seen_at')} as seen_ms,
      ${milliseconds('leapt_at')} as leapt_ms
    from clock
  `.execute(db);
  return onlyRow(rows);
}

/** Whether `steadyTime` is known and close to the present. */
export async function isClockSteady(db: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ steady: boolean | null }>`
    select now() - ${steadyTime} < ${leapHours} * interval '1 hour' as steady
  `.execute(db);
  return rows[0]?.steady === true;
}

function milliseconds(time: string) {
  return sql`(extract(epoch from ${sql.raw(time)}) * 1000)::float8`;
}

function onlyRow(rows: readonly ClockSighting[]): ClockSighting {
  const [row] = rows;
  if (row === undefined) throw new Error('the table `clock` has lost its row');
  return row;
}
