import { sql, type Transaction } from 'kysely';
import { endAdapterRecord } from '../adapterStore/keptAdapters.js';
import type { Database } from '../db/schema.js';
import { newId } from '../ids.js';

export interface NewVersion {
  readonly subject_ref: string;
  /** `null` for base. */
  readonly parent_version_id: string | null;
  readonly source_job_id: string;
  /** `sha256:<hex>` of the folder in the adapter store. */
  readonly adapter_hash: string;
  /** The checkpoint that it was trained on, or `null` if it is not known. */
  readonly base_model_hash: string | null;
  readonly size_bytes: number;
  readonly passed_count: number;
  readonly total_count: number;
  /** Plain data, see `Rehearsal` of the learning package. */
  readonly rehearsal: unknown;
  /** How long the hosting paid at admission lasts. */
  readonly hosting_hours: number;
  /** Its number among several that one transaction saves. Each is a microsecond newer than the one before. */
  readonly order?: number;
}

export interface SavedVersion {
  readonly id: string;
  readonly expires_at: Date;
}

/**
 * Records an inactive candidate whose files are in the adapter store. The subject counts as changed, so that it leads
 * the listing. The record of the adapter ends, for which the version now stands. Order of locks: the subject before the
 * project's accounts.
 */
export async function saveVersion(trx: Transaction<Database>, version: NewVersion): Promise<SavedVersion> {
  const { hosting_hours, rehearsal, order = 0, ...columns } = version;
  const createdAt = sql<Date>`now() + ${order} * interval '1 microsecond'`;
  await trx
    .updateTable('subjects')
    .set({ updated_at: sql`now()` })
    .where('id', '=', version.subject_ref)
    .executeTakeFirstOrThrow();
  const saved = await trx
    .insertInto('versions')
    .values({
      id: newId('ver'),
      ...columns,
      rehearsal: JSON.stringify(rehearsal),
      created_at: createdAt,
      expires_at: sql<Date>`${createdAt} + ${hosting_hours} * interval '1 hour'`,
    })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow();
  await endAdapterRecord(trx, version.source_job_id, version.adapter_hash);
  return saved;
}
