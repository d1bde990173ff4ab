import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { toProject, type Project, type ProjectSettings } from './projectQueries.js';

export type SetProjectOutcome = { readonly kind: 'set'; readonly project: Project } | { readonly kind: 'not_found' };

/** Changes the named settings and keeps the others. At least one must be named. */
export async function setProject(
  db: Kysely<Database>,
  projectId: string,
  settings: Partial<ProjectSettings>,
): Promise<SetProjectOutcome> {
  const row = await db
    .updateTable('projects')
    .set(settings)
    .where('id', '=', projectId)
    .returningAll()
    .executeTakeFirst();
  crashPointOnceCommitted(db, 'project.set');
  return row === undefined ? { kind: 'not_found' } : { kind: 'set', project: toProject(row) };
}
