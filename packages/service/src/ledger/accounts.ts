import { sql, type Kysely, type Transaction } from 'kysely';
import type { AccountKind } from '../db/ledgerTables.js';
import type { Database } from '../db/schema.js';

export type ProjectAccountKind = Exclude<AccountKind, 'issued'>;

/** The source of credit, and the only account that may go below zero. */
export const issuedAccount = 'issued';

export function accountId(kind: ProjectAccountKind, projectId: string): string {
  return `${kind}:${projectId}`;
}

/** A project's money, in micro-USD. `available` pays for new work; `reserved` is held by jobs that are not settled. */
export interface Balance {
  readonly available_microusd: number;
  readonly reserved_microusd: number;
  readonly spent_microusd: number;
}

/** Called once for each project, when it is created. */
export async function openProjectAccounts(trx: Transaction<Database>, projectId: string): Promise<void> {
  const kinds: readonly ProjectAccountKind[] = ['available', 'reserved', 'spent'];
  await trx
    .insertInto('accounts')
    .values(kinds.map((kind) => ({ id: accountId(kind, projectId), kind, project_id: projectId })))
    .execute();
}

export async function readBalance(db: Kysely<Database>, projectId: string): Promise<Balance> {
  return toBalance(projectId, await selectAccounts(db, projectId).execute());
}

/**
 * Reads the balance and holds it until the transaction ends. Every movement of a project's money takes this lock first,
 * on all its accounts in the order of their ids, so that no two movements wait for each other.
 */
export async function lockBalance(trx: Transaction<Database>, projectId: string): Promise<Balance> {
  const rows = await selectAccounts(trx, projectId)
    .orderBy('id')
    .modifyEnd(sql`for no key update`)
    .execute();
  return toBalance(projectId, rows);
}

function selectAccounts(db: Kysely<Database>, projectId: string) {
  return db.selectFrom('accounts').select(['kind', 'balance_microusd']).where('project_id', '=', projectId);
}

function toBalance(projectId: string, rows: readonly { kind: AccountKind; balance_microusd: number }[]): Balance {
  const balanceOf = (kind: ProjectAccountKind): number => {
    const row = rows.find((candidate) => candidate.kind === kind);
    if (row === undefined) throw new Error(`project ${projectId} has no account '${kind}'`);
    return row.balance_microusd;
  };
  return {
    available_microusd: balanceOf('available'),
    reserved_microusd: balanceOf('reserved'),
    spent_microusd: balanceOf('spent'),
  };
}
