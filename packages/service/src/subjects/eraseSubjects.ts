import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { erasedName } from '../ids.js';

export interface SubjectsOfTenant {
  readonly project_id: string;
  readonly tenant_id: string;
}

/** Locks the subjects of a tenant that are not erased, and returns their ids. */
export async function lockSubjectsOfTenant(
  trx: Transaction<Database>,
  { project_id, tenant_id }: SubjectsOfTenant,
): Promise<string[]> {
  const subjects = await trx
    .selectFrom('subjects')
    .select('id')
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .where('erased_at', 'is', null)
    .orderBy('id')
    .modifyEnd(sql`for update`)
    .execute();
  return subjects.map(({ id }) => id);
}

/** Takes their names and active versions from subjects that this transaction has locked. */
export async function eraseSubjects(trx: Transaction<Database>, subjectRefs: readonly string[]): Promise<void> {
  await trx
    .updateTable('subjects')
    .set({ name: sql<string>`${erasedName('')} || id`, active_version_id: null, erased_at: sql<Date>`now()` })
    .where(sql<boolean>`id = any(${subjectRefs})`)
    .execute();
}

/** Gives all subjects of a tenant, those erased before included, another tenant's name. Returns how many there were. */
export async function renameTenantOfSubjects(
  trx: Transaction<Database>,
  { project_id, tenant_id }: SubjectsOfTenant,
  name: string,
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('subjects')
    .set({ tenant_id: name })
    .where('project_id', '=', project_id)
    .where('tenant_id', '=', tenant_id)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
