import { performance } from 'node:perf_hooks';
import type { JobKind, TenantId, TokenUsage } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import { crashPoint } from '../crashPoints.js';
import type { Database } from '../db/schema.js';
import type { JobLease } from './jobLease.js';

export interface Claim {
  readonly worker_id: string;
  readonly kind: JobKind;
  /**
   * How long the job stays with this worker unless it extends the lease. At most `maxLeaseMs`, see `shortenLeases`.
   */
  readonly leaseMs: number;
}

export interface ClaimedJob extends JobLease {
  readonly kind: JobKind;
  readonly project_id: string;
  readonly tenant_id: TenantId;
  readonly subject_ref: string | null;
  readonly subject_name: string;
  readonly adapter_version: string;
  /** Parse with `jobRequest.ts`. */
  readonly stored_request: unknown;
  readonly pricing_version: string;
  readonly reserved_microusd: number;
  /**
   * Claims since the job last made progress, including this one. Progress is the admission, the stored outcome of a
   * phase, or a further training step. Handing a job back undoes its claim, see `releaseJob`.
   */
  readonly attempts: number;
  /** The claim before this one never reported its end: its worker died, or lost the lease. */
  readonly taken_over: boolean;
  /** The usage of the phases that earlier claims have finished. */
  readonly usage: TokenUsage;
  /** See `trainingProgress.ts`. */
  readonly training_progress: unknown;
  /** The trace context of the admitted request, see `tracing.ts`. `null` if it had none. */
  readonly trace_context: string | null;
  /** Milliseconds since admission, or since the job was last claimed. */
  readonly waited_ms: number;
  /** By the monotonic clock of this process (`performance.now()`). The lease does not end before. */
  readonly held_until_ms: number;
}

/**
 * How many projects a claim looks at, and how many waiting jobs, in one project and in all. If others take all of them,
 * it asks again a moment later.
 */
const lookedAt = 16;

/**
 * Takes a queued job of the kind, or one whose worker let its lease run out. `null` if there is none. The next project
 * is the one whose work of this kind began longest ago, so that nobody's backlog keeps others waiting. An index has the
 * waiting projects in this order (`project_turns`), so it does not matter how many there are. Within a project, the
 * oldest job comes first. Workers that claim at the same time skip each other's jobs (SKIP LOCKED), but take the jobs
 * of one project one after the other.
 */
export async function claimJob(db: Kysely<Database>, claim: Claim): Promise<ClaimedJob | null> {
  // The lease runs from when the database writes it, which is not before now.
  const heldUntilMs = performance.now() + claim.leaseMs;
  const row = await claimNext(db, claim);
  return row === undefined ? null : toClaimedJob(row, heldUntilMs);
}

type ClaimedRow = Omit<ClaimedJob, 'held_until_ms' | 'usage'> & TokenUsage;

async function claimNext(db: Kysely<Database>, { worker_id, kind, leaseMs }: Claim): Promise<ClaimedRow | undefined> {
  const { rows } = await sql<ClaimedRow>`
    with waiting as (
      -- A turn that lies ahead was recorded by a clock that has gone back since: as if there had been none.
      (select project_id, '-infinity'::timestamptz as claimed_at, first_sequence from project_turns
        where kind = ${kind} and waits and claimed_at > now() + interval '1 minute'
        order by claimed_at, first_sequence limit ${lookedAt})
      union all
      (select project_id, claimed_at, first_sequence from project_turns
        where kind = ${kind} and waits and claimed_at <= now() + interval '1 minute'
        order by claimed_at, first_sequence limit ${lookedAt})
    ),
    claimable as (
      select oldest.id, oldest.project_id, oldest.sequence from waiting cross join lateral (
        select id, kind, project_id, sequence from jobs
        -- As a place in the order of the index, so that no other is taken.
        where status = 'queued' and (kind, project_id, sequence) > (${kind}, waiting.project_id, 0)
        order by kind, project_id, sequence limit ${lookedAt}
      ) oldest where oldest.kind = ${kind} and oldest.project_id = waiting.project_id
      union all
      select id, project_id, sequence from jobs
      where kind = ${kind} and status = 'running' and lease_expires_at <= now()
    ),
    due as (
      -- As an array, each of whose jobs is then looked up by its id, however few or many jobs the planner expects.
      select array(
        select claimable.id from claimable
        left join project_turns turns on turns.project_id = claimable.project_id and turns.kind = ${kind}
        order by row_number() over (partition by claimable.project_id order by claimable.sequence),
          case when turns.claimed_at <= now() + interval '1 minute' then turns.claimed_at else '-infinity' end,
          claimable.sequence
        limit ${lookedAt}
      ) as ids
    ),
    next as (
      select id, status, updated_at from jobs
      where id = any((select ids from due)::text[])
        and (status = 'queued' or (status = 'running' and lease_expires_at <= now()))
      order by array_position((select ids from due), id)
      limit 1
      for no key update skip locked
    ),
    claimed as (
      update jobs set
        status = 'running',
        -- Learning says itself at which phase it begins, or goes on after a crash.
        phase = case when jobs.kind = 'inference' then 'generating' else jobs.phase end,
        worker_id = ${worker_id},
        fencing_token = jobs.fencing_token + 1,
        attempts = jobs.attempts + 1,
        lease_expires_at = now() + ${leaseMs} * interval '1 millisecond',
        updated_at = now()
      from next where jobs.id = next.id
      returning jobs.*, next.status = 'running' as taken_over,
        (extract(epoch from now() - next.updated_at) * 1000)::float8 as waited_ms
    ),
    turn as (
      insert into project_turns (project_id, kind, claimed_at)
      select project_id, kind, clock_timestamp() from claimed
      on conflict (project_id, kind) do update set claimed_at = excluded.claimed_at
    )
    select id as job_id, fencing_token, kind, project_id, tenant_id, subject_ref, subject_name, adapter_version,
      request as stored_request, pricing_version, reserved_microusd, attempts, waited_ms, taken_over,
      input_tokens, output_tokens, cached_input_tokens, training_tokens, training_progress, trace_context
    from claimed
  `.execute(db);
  crashPoint('job.claimed');
  return rows[0];
}

function toClaimedJob(row: ClaimedRow, heldUntilMs: number): ClaimedJob {
  const { input_tokens, output_tokens, cached_input_tokens, training_tokens, ...job } = row;
  return {
    ...job,
    usage: { input_tokens, output_tokens, cached_input_tokens, training_tokens },
    held_until_ms: heldUntilMs,
  };
}
