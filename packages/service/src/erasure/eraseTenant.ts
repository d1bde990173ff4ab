import type { Kysely, Transaction } from 'kysely';
import { audited } from '../audit/audited.js';
import type { Operator } from '../audit/operator.js';
import type { Database } from '../db/schema.js';
import { crashPointOnceCommitted } from '../db/transaction.js';
import { erasedName } from '../ids.js';
import { eraseJobs, findJobsOfTenant, renameTenantOfJobs } from '../jobs/eraseJobs.js';
import { eraseKeysOfTenant } from '../keys/eraseKeysOfTenant.js';
import { lockSubjectsOfTenant, renameTenantOfSubjects } from '../subjects/eraseSubjects.js';
import { lockTenant } from '../tenants/lockTenant.js';
import { cancelJobs, type Erased, eraseWithVersions } from './erase.js';

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
  await cancelJobs(db, operator, await findJobsOfTenant(db, tenant, 'open'));
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
  // Waits for admissions under way. Later ones begin a new tenant of this name.
  await lockTenant(trx, tenant);
  const nameless = erasedName();
  const keys = await eraseKeysOfTenant(trx, tenant, nameless);
  const subjectRefs = await lockSubjectsOfTenant(trx, tenant);
  await cancelJobs(trx, operator, await findJobsOfTenant(trx, tenant, 'open'));
  const jobs = await findJobsOfTenant(trx, tenant, 'all');
  const versions = await eraseWithVersions(trx, subjectRefs);
  await eraseJobs(trx, jobs);
  // Both include what was erased before, subject by subject.
  const renamedSubjects = await renameTenantOfSubjects(trx, tenant, nameless);
  const renamedJobs = await renameTenantOfJobs(trx, tenant, nameless);
  crashPointOnceCommitted(trx, 'tenant.erased');
  if (keys + renamedSubjects + renamedJobs === 0) return { kind: 'not_found' };
  return { kind: 'erased', erased: { subjects: subjectRefs.length, versions, jobs: jobs.length, keys } };
}
