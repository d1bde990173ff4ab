import type { TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { isId } from '../ids.js';
import { endedByWrongClock } from '../retention/correctDeadlines.js';
import { ofAnotherModel } from './baseModel.js';
import { tenantIs } from '../tenants/tenantIs.js';

export interface VersionOwner {
  readonly project_id: string;
  readonly tenant_id: TenantId;
}

/** A version as a worker needs it. */
export interface LocatedVersion extends FoundVersion {
  readonly adapter_hash: string;
  /** The checkpoint that it was trained on. `null` if nobody has recorded it yet. */
  readonly base_model_hash: string | null;
  readonly marked_damaged: boolean;
}

export interface FoundVersion {
  readonly id: string;
  readonly subject_ref: string;
  readonly expired: boolean;
  /**
   * It is past its deadline, perhaps only because nobody was there to move it on, or was ended by a clock that was
   * ahead. See `settleDeadline`.
   */
  readonly undecided: boolean;
  readonly of_another_model: boolean;
}

/**
 * "now" is when the transaction began, or the statement if there is none. An ended version is expired, even if the
 * clock goes back.
 */
const state = [
  ofAnotherModel.as('of_another_model'),
  sql<boolean>`(versions.expires_at <= now() or versions.retention_ended_at is not null)`.as('expired'),
  sql<boolean>`(versions.expires_at <= now() and versions.retention_ended_at is null or ${endedByWrongClock})`.as(
    'undecided',
  ),
] as const;

/**
 * The version with this id, if it belongs to the project and tenant. "A version that exists but belongs to another
 * subject, tenant or project answers exactly like one that does not exist."
 */
export async function findVersion(
  db: Kysely<Database>,
  { project_id, tenant_id }: VersionOwner,
  versionId: string,
): Promise<FoundVersion | null> {
  if (!isId('ver', versionId)) return null;
  const row = await db
    .selectFrom('versions')
    .innerJoin('subjects', 'subjects.id', 'versions.subject_ref')
    .select(['versions.id', 'versions.subject_ref'])
    .select(state)
    .where('versions.id', '=', versionId)
    .where('subjects.project_id', '=', project_id)
    .where(tenantIs('subjects.tenant_id', tenant_id))
    .where('subjects.erased_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

/** The version with this id, if it belongs to the subject. */
export async function findVersionOfSubject(
  db: Kysely<Database>,
  subjectRef: string,
  versionId: string,
): Promise<FoundVersion | null> {
  if (!isId('ver', versionId)) return null;
  const row = await db
    .selectFrom('versions')
    .select(['id', 'subject_ref'])
    .select(state)
    .where('id', '=', versionId)
    .where('subject_ref', '=', subjectRef)
    .executeTakeFirst();
  return row ?? null;
}

/** The version that admission resolved. Throws if there is none. */
export async function locateVersion(db: Kysely<Database>, versionId: string): Promise<LocatedVersion> {
  return db
    .selectFrom('versions')
    .select(['id', 'subject_ref', 'adapter_hash', 'base_model_hash'])
    .select(sql<boolean>`damaged_at is not null`.as('marked_damaged'))
    .select(state)
    .where('id', '=', versionId)
    .executeTakeFirstOrThrow();
}
