import type { TenantId } from '@engraft/contract';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { tenantIs } from '../tenants/tenantIs.js';
import { forgetJobs } from './forgetJobs.js';

/** Stands in place of the subject's name. */
const erasedSubjectName = '(erased)';

export interface JobsOfSubject {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  readonly subject_ref: string;
}

export interface JobsOfTenant {
  readonly project_id: string;
  readonly tenant_id: string;
}

type WhichJobs = 'open' | 'all';

/** The ids of a subject's jobs, oldest first. */
export async function findJobsOfSubject(
  db: Kysely<Database>,
  { project_id, tenant_id, subject_ref }: JobsOfSubject,
  which: WhichJobs,
): Promise<string[]> {
  const rows = await selectJobs(db, project_id, which)
    .where(tenantIs('tenant_id', tenant_id))
    .where('subject_ref', '=', subject_ref)
    .execute();
  return rows.map(({ id }) => id);
}

/** The ids of a tenant's jobs that are not erased, oldest first. */
export async function findJobsOfTenant(
  db: Kysely<Database>,
  { project_id, tenant_id }: JobsOfTenant,
  which: WhichJobs,
): Promise<string[]> {
  const rows = await selectJobs(db, project_id, which)
    .where('tenant_id', '=', tenant_id)
    .where('subject_name', '!=', erasedSubjectName)
    .execute();
  return rows.map(({ id }) => id);
}

function selectJobs(db: Kysely<Database>, projectId: string, which: WhichJobs) {
  return db
    .selectFrom('jobs')
    .select('id')
    .where('project_id', '=', projectId)
    .$if(which === 'open', (query) => query.where('status', 'in', ['queued', 'running']))
    .orderBy('sequence');
}

/** Forgets the jobs and the name of their subject, which nothing else tells. Their costs stay. */
export async function eraseJobs(trx: Transaction<Database>, jobIds: readonly string[]): Promise<void> {
  await forgetJobs(trx, jobIds);
  await trx
    .updateTable('jobs')
    .set({ subject_name: erasedSubjectName })
    .where(sql<boolean>`id = any(${jobIds})`)
    .execute();
}

/** Gives all jobs of a tenant, including those erased before, another tenant's name. Returns how many there were. */
export async function renameTenantOfJobs(
  trx: Transaction<Database>,
  { project_id, tenant_id }: JobsOfTenant,
  name: string,
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('jobs')
    .set({ tenant_id: name })
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
