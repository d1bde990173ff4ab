import type { TenantId } from '@engraft/contract';
import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/schema.js';
import { newId } from '../ids.js';
import { tenantIs } from '../tenants/tenantIs.js';

export interface SubjectName {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  /** `subject_id` on the wire. */
  readonly name: string;
}

export interface SubjectRoute {
  readonly id: string;
  /** `null`: base. */
  readonly active_version_id: string | null;
}

/**
 * The subject of this name, which is not erased before the transaction ends. A subject is "created by the first
 * admitted model operation for it", so the caller rolls back when it refuses the operation after all.
 */
export async function findOrCreateSubject(trx: Transaction<Database>, subject: SubjectName): Promise<SubjectRoute> {
  const found = await findSubject(trx, subject);
  if (found !== undefined) return found;
  await trx
    .insertInto('subjects')
    .values({ id: newId('sub'), ...subject })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // Ours, or the one of a simultaneous request, whose transaction the insert has waited for.
  const created = await findSubject(trx, subject);
  if (created === undefined) throw new Error('a subject vanished between its creation and its use');
  return created;
}

function findSubject(trx: Transaction<Database>, subject: SubjectName): Promise<SubjectRoute | undefined> {
  return trx
    .selectFrom('subjects')
    .select(['id', 'active_version_id'])
    .where('project_id', '=', subject.project_id)
    .where(tenantIs('tenant_id', subject.tenant_id))
    .where('name', '=', subject.name)
    .modifyEnd(sql`for key share`)
    .executeTakeFirst();
}
