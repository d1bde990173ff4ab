import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { tenantIs } from '../tenants/tenantIs.js';
import type { SubjectName, SubjectRoute } from './findOrCreateSubject.js';

/** The subject of this name, if there is one. */
export async function findSubject(db: Kysely<Database>, subject: SubjectName): Promise<SubjectRoute | null> {
  return (await subjectOfName(db, subject).executeTakeFirst()) ?? null;
}

/** The same, locked against admissions and activations until the transaction ends. */
export async function lockSubject(trx: Transaction<Database>, subject: SubjectName): Promise<SubjectRoute | null> {
  const found = await subjectOfName(trx, subject)
    .modifyEnd(sql`for update`)
    .executeTakeFirst();
  return found ?? null;
}

/** Locks the row of a subject against activations until the transaction ends, and says which version is active then. */
export async function lockRouting(
  trx: Transaction<Database>,
  subjectRef: string,
): Promise<Pick<SubjectRoute, 'active_version_id'>> {
  return trx
    .selectFrom('subjects')
    .select('active_version_id')
    .where('id', '=', subjectRef)
    .modifyEnd(sql`for no key update`)
    .executeTakeFirstOrThrow();
}

function subjectOfName(db: Kysely<Database>, { project_id, tenant_id, name }: SubjectName) {
  return db
    .selectFrom('subjects')
    .select(['id', 'active_version_id'])
    .where('project_id', '=', project_id)
    .where(tenantIs('tenant_id', tenant_id))
    .where('name', '=', name);
}
