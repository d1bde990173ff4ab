import { sql, type Kysely } from 'kysely';
import { isDatabaseUnavailable } from './databaseErrors.js';
import type { Database } from './schema.js';

/** Whether the database can work now. Throws on an error that is not an outage. */
export async function isDatabaseReachable(db: Kysely<Database>): Promise<boolean> {
  try {
    await sql`select 1`.execute(db);
    return true;
  } catch (error) {
    if (isDatabaseUnavailable(error)) return false;
    throw error;
  }
}
