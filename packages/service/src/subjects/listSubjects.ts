import { limits, type Subject, type TenantId } from '@engraft/contract';
import type { Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { tenantIs } from '../tenants/tenantIs.js';
import { ofAnotherModel } from '../versions/baseModel.js';

/**
 * "Up to 100 subjects and 50 versions each, for the selected tenant": the most recently changed subjects first, each
 * with its most recent versions, newest first. Expired versions stay in the list.
 */
export async function listSubjects(
  db: Kysely<Database>,
  { project_id, tenant_id }: { readonly project_id: string; readonly tenant_id: TenantId },
): Promise<Subject[]> {
  const rows = await db
    .selectFrom((recent) =>
      recent
        .selectFrom('subjects')
        .selectAll()
        .where('project_id', '=', project_id)
        .where(tenantIs('tenant_id', tenant_id))
        .where('erased_at', 'is', null)
        // All are of one tenant; but where that is NULL, only this tells the planner that the index has the order.
        .orderBy('tenant_id')
        .orderBy('updated_at', 'desc')
        .orderBy('id')
        .limit(limits.maxSubjectsPerListing)
        .as('subjects'),
    )
    .leftJoinLateral(
      (saved) =>
        saved
          .selectFrom('versions')
          .select(['id as version_id', 'created_at', 'expires_at', 'passed_count', 'total_count', 'source_job_id'])
          .select(ofAnotherModel.as('of_another_model'))
          .whereRef('versions.subject_ref', '=', 'subjects.id')
          .orderBy('created_at', 'desc')
          .orderBy('id')
          .limit(limits.maxVersionsPerSubjectListing)
          .as('versions'),
      (join) => join.onTrue(),
    )
    .select(['subjects.id', 'subjects.name', 'subjects.active_version_id', 'subjects.revision'])
    .select(['version_id', 'versions.created_at', 'expires_at', 'passed_count', 'total_count', 'source_job_id'])
    .select('of_another_model')
    .orderBy('subjects.updated_at', 'desc')
    .orderBy('subjects.id')
    .orderBy('versions.created_at', 'desc')
    .orderBy('version_id')
    .execute();

  const subjects = new Map<string, Subject>();
  for (const row of rows) {
    const subject = subjects.get(row.id) ?? {
      tenant_id,
      id: row.name,
      active_version: row.active_version_id,
      revision: row.revision,
      versions: [],
    };
    subjects.set(row.id, subject);
    // The columns of a left join are null together for a subject without versions.
    if (row.version_id === null || row.created_at === null || row.expires_at === null) continue;
    if (row.passed_count === null || row.total_count === null || row.source_job_id === null) continue;
    subject.versions.push({
      id: row.version_id,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      validation: { passed: row.passed_count, total: row.total_count },
      source_job: row.source_job_id,
      ...(row.of_another_model === true ? { base_model_changed: true as const } : {}),
    });
  }
  return [...subjects.values()];
}
