import type { ConsoleCredits, LedgerEntry, LedgerQuery } from '@engraft/contract/console';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { accountId, readBalance } from '../ledger/accounts.js';

const pageSize = 50;

export type LedgerRow = Omit<LedgerEntry, 'created_at'> & { readonly created_at: Date };

/** A project's balance, and a page of its ledger's entries, newest first. */
export async function readProjectCredits(
  db: Kysely<Database>,
  projectId: string,
  { cursor }: LedgerQuery,
): Promise<ConsoleCredits> {
  const before = cursor === undefined ? null : Number(cursor);
  const rows = await selectLedgerEntries(db, projectId, { before, limit: pageSize + 1 });
  const entries = rows.slice(0, pageSize).map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
  const last = rows.length > pageSize ? entries.at(-1) : undefined;
  return {
    ...(await readBalance(db, projectId)),
    entries,
    next_cursor: last === undefined ? null : String(last.id),
  };
}

/** Entries of a project's ledger before the one with this number, newest first, with what they were for. */
export async function selectLedgerEntries(
  db: Kysely<Database>,
  projectId: string,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<LedgerRow[]> {
  const available = accountId('available', projectId);
  return (
    db
      .selectFrom('transfers')
      .leftJoin('jobs', 'jobs.id', 'transfers.job_id')
      .leftJoin('versions', 'versions.id', 'transfers.version_id')
      .leftJoin('subjects', 'subjects.id', 'versions.subject_ref')
      .select(['transfers.id', 'transfers.kind', 'amount_microusd', 'job_id', 'version_id', 'memo'])
      .select('jobs.kind as job_kind')
      .select((eb) => eb.fn.coalesce('jobs.subject_name', 'subjects.name').as('subject_id'))
      .select('transfers.created_at')
      // Every entry is between two accounts of the project, or comes from outside into the one.
      .where((eb) =>
        eb.or([
          eb('from_account', 'in', [available, accountId('reserved', projectId)]),
          eb.and([eb('to_account', '=', available), eb('transfers.kind', 'in', ['grant', 'refund'])]),
        ]),
      )
      .$if(before !== null, (query) => query.where('transfers.id', '<', before))
      .orderBy('transfers.id', 'desc')
      .limit(limit)
      .execute()
  );
}
