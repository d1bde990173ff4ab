import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import { describeAllowance, type RequestAllowance } from './requestAllowance.js';

const windowMs = 60_000;

/**
 * When the bucket is full, or was. No bucket is full later than a minute from now, but a statement that has waited for
 * another, for at most 20 seconds, may find one that is. A clock that has gone back since wrote any later time, so the
 * bucket begins anew.
 */
const fullAt = sql`(case when bucket.full_at <= now() + interval '80 seconds'
  then greatest(bucket.full_at, now()) else now() end)`;

/** How many requests are free in a bucket that is full at this time. A step is rounded to microseconds. */
const freeAt = (time: typeof fullAt) => sql`floor(extract(epoch from now() + interval '1 minute' - ${time})
  / extract(epoch from (select step from settings)) + 0.001)::integer`;

/** A key whose requests are counted, as `authenticate` finds it. */
export interface CountedKey {
  readonly id: string;
  readonly project_id: string;
}

/**
 * Takes `count` requests, or as many as are free, from the key's bucket of `requests_per_minute`, which refills evenly
 * (the generic cell rate algorithm: only the time at which the bucket is full is kept). Returns an allowance for each;
 * those that were taken come first. It is one statement on the database's clock, so any number of processes share the
 * count. Its commit does not wait for the disk: a power cut may forget the last half second of counting, and no request
 * pays for a flush.
 */
export async function takeRequests(
  db: Kysely<Database>,
  key: CountedKey,
  count: number,
): Promise<readonly RequestAllowance[]> {
  // For refused requests, `bucket.full_at` is the value from before the statement. Under contention it is a little
  // early, and it is missing only in a key's very first requests.
  const { rows } = await sql<{ requests_per_minute: number; taken: number; full_after_ms: number }>`
    with settings as materialized (
      select requests_per_minute, interval '1 minute' / requests_per_minute as step,
        set_config('synchronous_commit', 'off', true)
      from projects where id = ${key.project_id}
    ), wanted as (
      select least(${count}::integer, ${freeAt(sql`now()`)}) as taken, step from settings
    ), taken as (
      insert into rate_limits as bucket (api_key_id, full_at, taken)
      select ${key.id}, now() + step * taken, taken from wanted
      on conflict (api_key_id) do update set
        taken = least(${count}::integer, ${freeAt(fullAt)}),
        full_at = ${fullAt} + (select step from settings) * least(${count}::integer, ${freeAt(fullAt)})
        where ${freeAt(fullAt)} >= 1
      returning full_at, taken
    )
    select requests_per_minute, coalesce(taken.taken, 0) as taken,
      (extract(epoch from coalesce(taken.full_at, bucket.full_at, now() + interval '1 minute') - now()) * 1000)::float8
        as full_after_ms
    from settings left join taken on true left join rate_limits as bucket on bucket.api_key_id = ${key.id}
  `.execute(db);
  crashPoint('request.counted');
  const [row] = rows;
  if (row === undefined) throw new Error(`project ${key.project_id} does not exist`);
  // Rounding adds less than a millisecond.
  if (row.full_after_ms > windowMs + 1) await shortenBucket(db, key.id);
  const limit = row.requests_per_minute;
  return Array.from({ length: count }, (_, index) => {
    const later = Math.max(0, row.taken - 1 - index);
    const fullAfterMs = Math.min(Math.max(0, row.full_after_ms - (later * windowMs) / limit), windowMs);
    return describeAllowance(index < row.taken ? 'taken' : 'refused', limit, windowMs, fullAfterMs);
  });
}

/**
 * A clock that went back a little leaves a bucket that is full later than a minute from now. A client that waits for
 * the time given to it would then be refused again. Uses the time of this moment, since the statement may have waited.
 */
async function shortenBucket(db: Kysely<Database>, apiKeyId: string): Promise<void> {
  const latest = sql<Date>`clock_timestamp() + interval '1 minute'`;
  await db
    .updateTable('rate_limits')
    .set({ full_at: latest })
    .where('api_key_id', '=', apiKeyId)
    .where('full_at', '>', latest)
    .execute();
  crashPoint('bucket.shortened');
}
