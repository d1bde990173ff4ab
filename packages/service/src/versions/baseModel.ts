import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';

/**
 * Whether a row of `versions` was trained on another checkpoint than the one that the workers have loaded. False if
 * either is unknown; then the worker that uses it finds out, see `worker/findAdapter.ts`.
 */
export const ofAnotherModel = sql<boolean>`exists (
  select from base_model where base_model.content_hash <> versions.base_model_hash)`;

/** The checkpoint that the workers have loaded. `null` if none has loaded one yet. */
export async function readBaseModel(db: Kysely<Database>): Promise<string | null> {
  const row = await db.selectFrom('base_model').select('content_hash').executeTakeFirst();
  return row?.content_hash ?? null;
}

/** Records the checkpoint that a worker has loaded. Returns the one before if it was a different one. */
export async function recordBaseModel(db: Kysely<Database>, contentHash: string): Promise<string | null> {
  const { rows } = await sql<{ before: string }>`
    with before as (select content_hash from base_model),
      recorded as (
        insert into base_model (content_hash) values (${contentHash})
        on conflict (only_row) do update set content_hash = excluded.content_hash, loaded_since = now()
        where base_model.content_hash <> excluded.content_hash)
    select content_hash as before from before where content_hash <> ${contentHash}
  `.execute(db);
  crashPoint('base_model.recorded');
  return rows[0]?.before ?? null;
}

/** The kept adapters whose checkpoint nobody has recorded. */
export async function adaptersOfUnknownModel(db: Kysely<Database>): Promise<string[]> {
  const rows = await db
    .selectFrom('versions')
    .select('adapter_hash')
    .distinct()
    .where('base_model_hash', 'is', null)
    .where('files_deleted_at', 'is', null)
    .execute();
  return rows.map(({ adapter_hash }) => adapter_hash);
}

/** Records the checkpoint of an adapter's versions, unless somebody has. */
export async function recordModelOfAdapter(
  db: Kysely<Database>,
  adapterHash: string,
  baseModelHash: string,
): Promise<void> {
  await db
    .updateTable('versions')
    .set({ base_model_hash: baseModelHash })
    .where('adapter_hash', '=', adapterHash)
    .where('base_model_hash', 'is', null)
    .execute();
  crashPoint('adapter.model_recorded');
}

export interface VersionsByModel {
  /** Versions whose retention goes on. */
  readonly retained: number;
  /** How many of them were trained on another checkpoint. */
  readonly of_another_model: number;
}

export async function countVersionsByModel(db: Kysely<Database>, contentHash: string): Promise<VersionsByModel> {
  return db
    .selectFrom('versions')
    .select((eb) => [
      eb.fn.countAll<number>().as('retained'),
      eb.fn.countAll<number>().filterWhere('base_model_hash', '<>', contentHash).as('of_another_model'),
    ])
    .where('retention_ended_at', 'is', null)
    .executeTakeFirstOrThrow();
}
