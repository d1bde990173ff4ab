import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

/** The jobs that nobody need wait for any more, because they have ended or need an operator. */
export async function findEndedJobs(db: Kysely<Database>, jobIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('id')
    .where(sql<boolean>`id = any(${jobIds})`)
    .where('status', 'not in', ['queued', 'running'])
    .execute();
  return rows.map(({ id }) => id);
}
