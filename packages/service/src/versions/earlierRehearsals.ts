import { sql, type Kysely } from 'kysely';
import { rehearsalSchema, type Rehearsal } from '@engraft/learning';
import type { Database } from '../db/schema.js';

/**
 * Reads the lessons of the parent and its ancestors, oldest first. Expired ones count too, since only their files are
 * deleted.
 */
export async function readEarlierRehearsals(
  db: Kysely<Database>,
  parentVersionId: string | null,
): Promise<Rehearsal[]> {
  if (parentVersionId === null) return [];
  const { rows } = await sql<{ rehearsal: unknown }>`
    with recursive ancestors as (
      select id, parent_version_id, rehearsal, 0 as distance from versions where id = ${parentVersionId}
      union all
      select parent.id, parent.parent_version_id, parent.rehearsal, distance + 1
      from versions parent join ancestors on parent.id = ancestors.parent_version_id
    )
    select rehearsal from ancestors where rehearsal is not null order by distance desc
  `.execute(db);
  return rows.map((row) => rehearsalSchema.parse(row.rehearsal));
}
