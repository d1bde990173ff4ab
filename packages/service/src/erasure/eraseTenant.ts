import { sql, type Kysely, type Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { cancelJobs, type Erased, erasedJobName, erasedName, eraseJobs, eraseSubjects } from './erase.js';

export interface TenantToErase {
  readonly project_id: string;
  readonly tenant_id: string;
}

export type EraseTenantOutcome =
  { readonly kind: 'erased'; readonly erased: Erased & { readonly keys: number } } | { readonly kind: 'not_found' };

/**
 * Erases everything that a project has of a tenant: its subjects and jobs as in `eraseSubject`, the tenant's name, and
 * the keys restricted to it, which are revoked. The ledger stays.
 */
export async function eraseTenant(
  db: Kysely<Database>,
  operator: Operator,
  tenant: TenantToErase,
): Promise<EraseTenantOutcome> {
  await cancelJobs(db, operator, await jobsOf(db, tenant, 'open').execute());
  return audited<EraseTenantOutcome>(
    db,
    operator,
    (trx) => erase(trx, operator, tenant),
    (outcome) => {
      if (outcome.kind === 'not_found') return null;
      const { project_id, tenant_id } = tenant;
      return { action: 'tenant.erase', project_id, target: tenant_id, details: { ...outcome.erased } };
    },
  );
}

async function erase(
  trx: Transaction<Database>,
  operator: Operator,
  tenant: TenantToErase,
): Promise<EraseTenantOutcome> {
  const { project_id, tenant_id } = tenant;
  const nameless = erasedName();
  const revoked = await trx
    .updateTable('api_keys')
    .set({ name: nameless, tenant_id: nameless, revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .executeTakeFirstOrThrow();
  const keys = Number(revoked.numUpdatedRows);
  const subjects = await trx
    .selectFrom('subjects')
    .select('id')
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .where('erased_at', 'is', null)
    .orderBy('id')
    .modifyEnd(sql`for update`)
    .execute();
  await cancelJobs(trx, operator, await jobsOf(trx, tenant, 'open').execute());
  const jobs = await jobsOf(trx, tenant, 'all').execute();
  const versions = await eraseSubjects(
    trx,
    subjects.map(({ id }) => id),
  );
  await eraseJobs(trx, jobs);
  let rows = keys;
  // This includes what was erased before, subject by subject.
  for (const table of ['subjects', 'jobs'] as const) {
    const renamed = await trx
      .updateTable(table)
      .set({ tenant_id: nameless })
      .where('project_id', '=', project_id)
      .where('tenant_id', '=', tenant_id)
      .executeTakeFirstOrThrow();
    rows += Number(renamed.numUpdatedRows);
  }
  crashPointOnceCommitted(trx, 'tenant.erased');
  if (rows === 0) return { kind: 'not_found' };
  return { kind: 'erased', erased: { subjects: subjects.length, versions, jobs: jobs.length, keys } };
}

function jobsOf(db: Kysely<Database>, { project_id, tenant_id }: TenantToErase, which: 'open' | 'all') {
  return db
    .selectFrom('jobs')
    .select('id')
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .where('subject_name', '!=', erasedJobName)
    .$if(which === 'open', (query) => query.where('status', 'in', ['queued', 'running']))
    .orderBy('sequence');
}
