import type { ProjectChangeRequest } from '@engraft/contract/console';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { toProject, type Project } from './projectQueries.js';

export type SetProjectOutcome = { readonly kind: 'set'; readonly project: Project } | { readonly kind: 'not_found' };

/**
 * Changes the name or the settings that are given, at least one, and keeps the others. A name that another project has
 * rejects with a unique violation.
 */
export async function setProject(
  db: Kysely<Database>,
  projectId: string,
  changes: ProjectChangeRequest,
): Promise<SetProjectOutcome> {
  const row = await db
    .updateTable('projects')
    .set(changes)
    .where('id', '=', projectId)
    .returningAll()
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'project.set');
  return row === undefined ? { kind: 'not_found' } : { kind: 'set', project: toProject(row) };
}
