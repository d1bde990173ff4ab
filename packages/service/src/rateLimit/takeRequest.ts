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

/**
 * Takes one request from the key's bucket of `requests_per_minute`, which refills evenly (the generic cell rate
 * algorithm: only the time at which the bucket is full is kept). It is one statement on the database's clock, so any
 * number of processes share the count. Its commit does not wait for the disk: a power cut may forget the last half
 * second of counting, and no request pays for a flush.
 */
export async function takeRequest(
  db: Kysely<Database>,
  key: { readonly id: string; readonly project_id: string },
): Promise<RequestAllowance> {
  // For a refused request, `bucket.full_at` is the value from before the statement. Under contention it is a little
  // early, and it is missing only in a key's very first requests.
  const { rows } = await sql<{ requests_per_minute: number; taken: boolean; full_after_ms: number }>`
    with settings as materialized (
      select requests_per_minute, interval '1 minute' / requests_per_minute as step,
        set_config('synchronous_commit', 'off', true)
      from projects where id = ${key.project_id}
    ), taken as (
      insert into rate_limits as bucket (api_key_id, full_at)
      select ${key.id}, now() + step from settings
      on conflict (api_key_id) do update
        set full_at = ${fullAt} + (excluded.full_at - now())
        where ${fullAt} + (excluded.full_at - now()) <= now() + interval '1 minute'
      returning full_at
    )
    select requests_per_minute, taken.full_at is not null as taken,
      (extract(epoch from coalesce(taken.full_at, bucket.full_at, now() + interval '1 minute') - now()) * 1000)::float8
        as full_after_ms
    from settings left join taken on true left join rate_limits as bucket on bucket.api_key_id = ${key.id}
  `.execute(db);
  crashPoint('request.counted');
  const [row] = rows;
  if (row === undefined) throw new Error(`project ${key.project_id} does not exist`);
  if (row.full_after_ms > windowMs) await shortenBucket(db, key.id);
  const fullAfterMs = Math.min(Math.max(0, row.full_after_ms), windowMs);
  return describeAllowance(row.taken ? 'taken' : 'refused', row.requests_per_minute, windowMs, fullAfterMs);
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
