import { sql, type Kysely } from 'kysely';
import { advisoryLocks } from '../db/advisoryLocks.js';
import type { Database } from '../db/schema.js';

/**
 * Runs `work` while no adapter is deleted, see `retention/deleteUnneededFiles.ts`. The lock has a transaction of its
 * own, which begins before the snapshot is taken. Its end shows that the lock was held all the time.
 */
export async function holdingAdapters<Result>(db: Kysely<Database>, work: () => Promise<Result>): Promise<Result> {
  return db.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(${advisoryLocks.backup})`.execute(trx);
    return work();
  });
}
