import type { JobKind, TenantId } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import type { JobLease } from './jobLease.js';

export interface Claim {
  readonly worker_id: string;
  readonly kind: JobKind;
  /** How long the job stays with this worker unless it extends the lease. */
  readonly lease_ms: number;
}

export interface ClaimedJob extends JobLease {
  readonly project_id: string;
  readonly tenant_id: TenantId;
  readonly subject_ref: string | null;
  readonly subject_name: string;
  readonly adapter_version: string;
  /** Parse with `jobRequest.ts`. */
  readonly stored_request: unknown;
  readonly pricing_version: string;
  readonly reserved_microusd: number;
  /** Claims so far, this one included; handing a job back takes its claim off again. */
  readonly attempts: number;
  /** Since admission, or since the job was last claimed. */
  readonly waited_ms: number;
  /** By the clock of this process: the lease does not end before. */
  readonly held_until_ms: number;
}

/**
 * Takes the oldest job of the kind that is queued, or whose worker let its lease run out; `null` when there is none.
 * Workers that claim at the same time pass over each other's jobs (SKIP LOCKED), and none waits.
 */
export async function claimJob(db: Kysely<Database>, { worker_id, kind, lease_ms }: Claim): Promise<ClaimedJob | null> {
  // The lease runs from when the database writes it, which is not before now.
  const held_until_ms = Date.now() + lease_ms;
  const row = await db
    .with('next', (cte) =>
      cte
        .selectFrom('jobs')
        .select(['id', 'updated_at'])
        .where('kind', '=', kind)
        .where((eb) =>
          eb.or([
            eb('status', '=', 'queued'),
            eb.and([eb('status', '=', 'running'), eb('lease_expires_at', '<=', sql<Date>`now()`)]),
          ]),
        )
        .orderBy('sequence')
        .limit(1)
        .modifyEnd(sql`for no key update skip locked`),
    )
    .updateTable('jobs')
    .from('next')
    .whereRef('jobs.id', '=', 'next.id')
    .set((eb) => ({
      status: 'running',
      // Learning says itself at which phase it begins, or goes on after a crash.
      phase: kind === 'inference' ? 'generating' : eb.ref('jobs.phase'),
      worker_id,
      fencing_token: eb('jobs.fencing_token', '+', 1),
      attempts: eb('jobs.attempts', '+', 1),
      lease_expires_at: sql<Date>`now() + ${lease_ms} * interval '1 millisecond'`,
      updated_at: sql`now()`,
    }))
    .returning([
      'jobs.id as job_id',
      'jobs.fencing_token',
      'jobs.project_id',
      'jobs.tenant_id',
      'jobs.subject_ref',
      'jobs.subject_name',
      'jobs.adapter_version',
      'jobs.request as stored_request',
      'jobs.pricing_version',
      'jobs.reserved_microusd',
      'jobs.attempts',
      sql<number>`(extract(epoch from now() - next.updated_at) * 1000)::float8`.as('waited_ms'),
    ])
    .executeTakeFirst();
  return row === undefined ? null : { ...row, held_until_ms };
}
