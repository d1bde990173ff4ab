import type { ConsoleCredits, LedgerQuery } from '@engraft/contract/console';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId, readBalance } from '../ledger/accounts.js';

const pageSize = 50;

/** A project's balance, and a page of its ledger's entries, newest first. */
export async function readProjectCredits(
  db: Kysely<Database>,
  projectId: string,
  { cursor }: LedgerQuery,
): Promise<ConsoleCredits> {
  const available = accountId('available', projectId);
  const rows = await db
    .selectFrom('transfers')
    .leftJoin('jobs', 'jobs.id', 'transfers.job_id')
    .leftJoin('versions', 'versions.id', 'transfers.version_id')
    .leftJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .select(['transfers.id', 'transfers.kind', 'amount_microusd', 'job_id', 'version_id', 'memo'])
    .select((eb) => eb.fn.coalesce('jobs.subject_name', 'subjects.name').as('subject_id'))
    .select('transfers.created_at')
    // Every entry leaves one of these two accounts, or is a grant or a refund that comes into the one.
    .where((eb) =>
      eb.or([
        eb('from_account', 'in', [available, accountId('reserved', projectId)]),
        eb.and([eb('to_account', '=', available), eb('transfers.kind', 'in', ['grant', 'refund'])]),
      ]),
    )
    .$if(cursor !== undefined, (query) => query.where('transfers.id', '<', Number(cursor)))
    .orderBy('transfers.id', 'desc')
    .limit(pageSize + 1)
    .execute();
  const entries = rows.slice(0, pageSize).map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
  const last = rows.length > pageSize ? entries.at(-1) : undefined;
  return {
    ...(await readBalance(db, projectId)),
    entries,
    next_cursor: last === undefined ? null : String(last.id),
  };
}
