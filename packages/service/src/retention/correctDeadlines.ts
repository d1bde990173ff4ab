import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/** A time this far in the future was not just written by another statement, but by a clock that was ahead. */
const tolerance = sql`interval '1 minute'`;
/** Hosting is renewed for 24 hours when an hour is left, so no deadline lies farther ahead. See `renewHosting`. */
const maxHoursLeft = 25;
/** A jump affects every version, and one statement must not take too long. */
const batchVersions = 5_000;

/**
 * A round ended the version at a time that has not come yet, so it should not have. Does not apply if its files are
 * gone.
 */
export const endedByWrongClock = sql<boolean>`(versions.retention_ended_by is not distinct from 'retention'
  and versions.retention_ended_at > now() + ${tolerance} and versions.files_deleted_at is null)`;

/**
 * Undoes what a fast clock has done to versions, once it has been set back. The hosting of versions that a round ended
 * goes on. Deadlines too far ahead move back by whole days, so that they stay aligned to the versions' creation.
 * Payments for the days ahead stay, see `renewHosting`. A version that an operator ended stays ended, and its times
 * become the current one.
 * Returns how many versions were corrected. Versions locked by others are left to them, except `only`, which is waited
 * for.
 */
export async function correctDeadlines(db: Kysely<Database>, only?: string): Promise<number> {
  let corrected = 0;
  for (;;) {
    const batch = await correctBatch(db, only);
    corrected += batch;
    if (batch < batchVersions) return corrected;
  }
}

async function correctBatch(db: Kysely<Database>, only?: string): Promise<number> {
  const which = only === undefined ? sql`` : sql`and versions.id = ${only}`;
  const others = only === undefined ? sql`skip locked` : sql``;
  const { numAffectedRows } = await sql`
    with wrong as (
      select id, versions.retention_ended_at is not null and not ${endedByWrongClock} as ended,
        ceil(extract(epoch from versions.expires_at - now()) / 86400 - ${maxHoursLeft}::numeric / 24) as days_too_many
      from versions
      where (versions.retention_ended_at > now() + ${tolerance}
        or versions.retention_ended_at is null
          and versions.expires_at > now() + ${maxHoursLeft} * interval '1 hour' + ${tolerance}) ${which}
      limit ${batchVersions}
      for no key update ${others}
    )
    update versions set
      retention_ended_at = case when ended then now() end,
      retention_ended_by = case when ended then versions.retention_ended_by end,
      expires_at = case when ended then least(expires_at, now())
        else expires_at - greatest(0, days_too_many)::float8 * interval '24 hours' end
    from wrong where versions.id = wrong.id
  `.execute(db);
  crashPoint('deadlines.corrected');
  return Number(numAffectedRows ?? 0n);
}
