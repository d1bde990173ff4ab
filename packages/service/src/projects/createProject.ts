import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { inTransaction } from '../db/transaction.js';
import { newId } from '../ids.js';
import { openProjectAccounts } from '../ledger/accounts.js';
import { toProject, type Project } from './projectQueries.js';

export type CreateProjectOutcome =
  { readonly kind: 'created'; readonly project: Project } | { readonly kind: 'name_taken' };

/** A project with the default settings and its three empty accounts. */
export async function createProject(db: Kysely<Database>, { name }: { name: string }): Promise<CreateProjectOutcome> {
  return inTransaction<CreateProjectOutcome>(db, 'project.created', async (trx) => {
    const row = await trx
      .insertInto('projects')
      .values({ id: newId('prj'), name })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) return { kind: 'name_taken' };
    await openProjectAccounts(trx, row.id);
    return { kind: 'created', project: toProject(row) };
  });
}
