import type { JobKind } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';

/** The open jobs of a kind, in all projects. */
export interface Queue {
  readonly kind: JobKind;
  readonly queued: number;
  readonly running: number;
  /** Jobs that wait for an operator. */
  readonly reconciliation_required: number;
  /** Seconds since the admission of the oldest queued job; 0 if none is queued. */
  readonly oldest_seconds: number;
}

/** Reads only indexes, except one row of each kind, however many jobs there are. */
export async function readQueue(db: Kysely<Database>): Promise<readonly Queue[]> {
  const { rows } = await sql<Queue>`
    with queued as (
      select kind, count(*)::int as jobs, min(sequence) as oldest from jobs where status = 'queued' group by kind
    ),
    running as (select kind, count(*)::int as jobs from jobs where status = 'running' group by kind),
    held as (
      select kind, count(*)::int as jobs from jobs where status = 'reconciliation_required' group by kind
    )
    select kinds.kind, coalesce(queued.jobs, 0) as queued, coalesce(running.jobs, 0) as running,
      coalesce(held.jobs, 0) as reconciliation_required,
      coalesce(greatest(0, extract(epoch from clock_timestamp() - oldest.created_at)), 0)::float8 as oldest_seconds
    from (values ('inference'), ('internalization')) as kinds(kind)
    left join queued on queued.kind = kinds.kind
    left join running on running.kind = kinds.kind
    left join held on held.kind = kinds.kind
    left join jobs oldest on oldest.sequence = queued.oldest
  `.execute(db);
  return rows;
}
