import type { ConsoleCredits, LedgerEntry, LedgerQuery } from '@engraft/contract/console';
import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import type { TransfersTable } from '../db/ledgerTables.js';
import type { Database } from '../db/schema.js';
import { accountId, readBalance, type ProjectAccountKind } from '../ledger/accounts.js';

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
  const firstPlace = -(before ?? Number.MAX_SAFE_INTEGER);
  const newest = (which: RawBuilder<boolean>) => sql`(
    select * from transfers where ${which} and -id > ${firstPlace} order by -id limit ${limit})`;
  const leaving = (kind: ProjectAccountKind) => newest(sql`from_account = ${accountId(kind, projectId)}`);
  const granted = newest(sql`to_account = ${accountId('available', projectId)} and kind = 'grant'`);
  // Every entry leaves an account of the project, or is a grant. Each part is read from an index, newest first, see
  // 0022_growth.sql.
  const parts = [leaving('available'), leaving('reserved'), leaving('spent'), granted];
  return db
    .selectFrom(sql<Selectable<TransfersTable>>`(${sql.join(parts, sql` union all `)})`.as('transfers'))
    .leftJoin('jobs', 'jobs.id', 'transfers.job_id')
    .leftJoin('versions', 'versions.id', 'transfers.version_id')
    .leftJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .select(['transfers.id', 'transfers.kind', 'amount_microusd', 'job_id', 'version_id', 'memo'])
    .select('jobs.kind as job_kind')
    .select((eb) => eb.fn.coalesce('jobs.subject_name', 'subjects.name').as('subject_id'))
    .select('transfers.created_at')
    .orderBy('transfers.id', 'desc')
    .limit(limit)
    .execute();
}
