import { sql, type Kysely } from 'kysely';
import { openDatabase } from '../db/database.js';
import type { Database } from '../db/schema.js';
import type { TestDatabase } from './testDatabase.js';

/** The database seen through a clock that a test sets. */
export interface TestClock {
  readonly db: Kysely<Database>;
  /** A URL for more connections through the same clock. */
  readonly url: string;
  /** Sets the clock this far ahead of the real one, or behind it for a negative interval. */
  set(interval: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A fault injector: on its connections, `now()` and `clock_timestamp()` are functions of the test, which PostgreSQL
 * finds before its own. Defaults of columns keep the real time, so rows that need a time of this clock must name it.
 */
export async function openTestClock({ owner, url }: TestDatabase, { maxConnections = 4 } = {}): Promise<TestClock> {
  await sql`create schema test_clock`.execute(owner);
  await sql`create table test_clock.setting (ahead interval not null)`.execute(owner);
  await sql`insert into test_clock.setting values ('0')`.execute(owner);
  await sql`create function test_clock.now() returns timestamptz language sql stable
    as 'select pg_catalog.now() + ahead from test_clock.setting'`.execute(owner);
  await sql`create function test_clock.clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + ahead from test_clock.setting'`.execute(owner);
  const options = encodeURIComponent('-c search_path=test_clock,public,pg_catalog');
  const shiftedUrl = `${url}${url.includes('?') ? '&' : '?'}options=${options}`;
  const shifted = openDatabase(shiftedUrl, { maxConnections });
  return {
    db: shifted,
    url: shiftedUrl,
    set: async (interval) => {
      await sql`update test_clock.setting set ahead = ${interval}::interval`.execute(owner);
    },
    close: () => shifted.destroy(),
  };
}
