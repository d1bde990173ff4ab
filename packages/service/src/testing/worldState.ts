import type { Kysely, Selectable } from 'kysely';
import type { AccountsTable, TransferKind } from '../db/ledgerTables.js';
import type { Database, JobsTable, SubjectsTable, VersionsTable } from '../db/schema.js';

/** The state of the database at one moment. */
export interface WorldState {
  /** The oldest first. */
  readonly jobs: readonly Selectable<JobsTable>[];
  readonly versions: readonly Selectable<VersionsTable>[];
  readonly subjects: readonly Selectable<SubjectsTable>[];
  readonly accounts: readonly Selectable<AccountsTable>[];
  /** Days of hosting that were charged. */
  readonly hosting: readonly ProjectAmount[];
  /** Refunds of jobs and of days of hosting. */
  readonly refunds: readonly ProjectAmount[];
}

export interface ProjectAmount {
  readonly project_id: string | null;
  readonly amount_microusd: number;
}

/** Call it only when nobody is at work. */
export async function readWorldState(db: Kysely<Database>): Promise<WorldState> {
  return {
    jobs: await db.selectFrom('jobs').selectAll().orderBy('sequence').execute(),
    versions: await db.selectFrom('versions').selectAll().orderBy('created_at').orderBy('id').execute(),
    subjects: await db.selectFrom('subjects').selectAll().orderBy('id').execute(),
    accounts: await db.selectFrom('accounts').selectAll().execute(),
    hosting: await transfersOf(db, 'hosting'),
    refunds: await transfersOf(db, 'refund'),
  };
}

function transfersOf(db: Kysely<Database>, kind: TransferKind): Promise<ProjectAmount[]> {
  return db
    .selectFrom('transfers')
    .innerJoin('accounts', 'accounts.id', 'transfers.from_account')
    .select(['accounts.project_id', 'amount_microusd'])
    .where('transfers.kind', '=', kind)
    .execute();
}
