import type { ProjectSettings } from '@engraft/contract/console';
import type { Kysely, Selectable } from 'kysely';
import type { Database, ProjectsTable } from '../db/schema.js';

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly settings: ProjectSettings;
}

export async function listProjects(db: Kysely<Database>): Promise<Project[]> {
  const rows = await db.selectFrom('projects').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(toProject);
}

export async function findProject(db: Kysely<Database>, id: string): Promise<Project | null> {
  const row = await db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : toProject(row);
}

export async function findProjectByName(db: Kysely<Database>, name: string): Promise<Project | null> {
  const row = await db.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirst();
  return row === undefined ? null : toProject(row);
}

export function toProject(row: Selectable<ProjectsTable>): Project {
  return {
    id: row.id,
    name: row.name,
    settings: {
      monthly_spending_limit_microusd: row.monthly_spending_limit_microusd,
      monthly_learning_capacity_microusd: row.monthly_learning_capacity_microusd,
      version_retention_days: row.version_retention_days,
      requests_per_minute: row.requests_per_minute,
    },
  };
}
