import type { ConsoleSettings, ProjectChangeRequest } from '@engraft/contract/console';
import type { Kysely } from 'kysely';
import { readMonth } from '../admission/monthlySums.js';
import { audited } from '../audit/audited.js';
import { isUniqueViolation } from '../db/databaseErrors.js';
import type { Database } from '../db/schema.js';
import { createProject, type CreateProjectOutcome } from '../projects/createProject.js';
import { findProject } from '../projects/projectQueries.js';
import { setProject, type SetProjectOutcome } from '../projects/setProject.js';
import { operatorOfMember, type Member } from './members.js';

/** A project's settings, and how far the month has come towards its limits. `null` if there is no such project. */
export async function readSettings(db: Kysely<Database>, projectId: string): Promise<ConsoleSettings | null> {
  const project = await findProject(db, projectId);
  if (project === null) return null;
  return { name: project.name, settings: project.settings, this_month: await readMonth(db, projectId) };
}

export async function createProjectForMember(
  db: Kysely<Database>,
  member: Member,
  name: string,
): Promise<CreateProjectOutcome> {
  return audited(
    db,
    operatorOfMember(member),
    (trx) => createProject(trx, { name }),
    (outcome) => {
      if (outcome.kind !== 'created') return null;
      const { id } = outcome.project;
      return { action: 'project.create', project_id: id, target: id, details: { name } };
    },
  );
}

export type ChangeProjectOutcome = SetProjectOutcome | { readonly kind: 'name_taken' };

export async function changeProjectForMember(
  db: Kysely<Database>,
  member: Member,
  projectId: string,
  changes: ProjectChangeRequest,
): Promise<ChangeProjectOutcome> {
  try {
    return await audited(
      db,
      operatorOfMember(member),
      (trx) => setProject(trx, projectId, changes),
      ({ kind }) =>
        kind === 'set' ? { action: 'project.set', project_id: projectId, target: projectId, details: changes } : null,
    );
  } catch (error) {
    if (isUniqueViolation(error)) return { kind: 'name_taken' };
    throw error;
  }
}
