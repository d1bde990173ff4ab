import type { JobList, JobListQuery, TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { isId } from '../ids.js';
import { tenantIs } from '../tenants/tenantIs.js';

export interface JobNamespace {
  readonly project_id: string;
  readonly tenant_id: TenantId;
}

/** The order of the indexes that lists are read from, see 0022_growth.sql. */
export const newestFirst = sql<number>`(-jobs.sequence)`;

export type ListJobsOutcome = { readonly kind: 'listed'; readonly page: JobList } | { readonly kind: 'invalid_cursor' };

/**
 * A page of the namespace's jobs, "newest first": in the reverse order of their sequence, below the job at which the
 * page before ended. Jobs that are added meanwhile come above it, so that none is skipped or repeated.
 */
export async function listJobs(
  db: Kysely<Database>,
  namespace: JobNamespace,
  { limit, cursor }: JobListQuery,
): Promise<ListJobsOutcome> {
  const below = cursor === undefined ? null : await findCursor(db, namespace, cursor);
  if (below === undefined) return { kind: 'invalid_cursor' };
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'kind', 'status', 'phase', 'adapter_version', 'created_at'])
    .where('project_id', '=', namespace.project_id)
    .where(tenantIs('tenant_id', namespace.tenant_id))
    .where('forgotten_at', 'is', null)
    .$if(below !== null, (query) => query.where(newestFirst, '>', -(below ?? 0)))
    // All are of one tenant; but where that is NULL, only this tells the planner that the index has the order.
    .orderBy('tenant_id')
    .orderBy(newestFirst)
    // One more than the page, to see whether there is a next one.
    .limit(limit + 1)
    .execute();
  const data = rows.slice(0, limit).map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
  const last = rows.length > limit ? data.at(-1) : undefined;
  return { kind: 'listed', page: { data, next_cursor: last === undefined ? null : cursorAfter(last.id) } };
}

const cursorPrefix = 'after_';

/** Names the job rather than its sequence, which would reveal how many jobs other projects have. */
function cursorAfter(jobId: string): string {
  return jobId.replace(/^job_/, cursorPrefix);
}

/** The sequence of the cursor's job, or `undefined` if it is no cursor of this namespace. */
async function findCursor(
  db: Kysely<Database>,
  { project_id, tenant_id }: JobNamespace,
  cursor: string,
): Promise<number | undefined> {
  const jobId = cursor.replace(cursorPrefix, 'job_');
  if (!cursor.startsWith(cursorPrefix) || !isId('job', jobId)) return undefined;
  const row = await db
    .selectFrom('jobs')
    .select('sequence')
    .where('id', '=', jobId)
    .where('project_id', '=', project_id)
    .where(tenantIs('tenant_id', tenant_id))
    .executeTakeFirst();
  return row?.sequence;
}
