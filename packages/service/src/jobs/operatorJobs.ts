import { job as jobSchema, type Job, type JobKind, type JobStatus } from '@engraft/contract';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { jobResourceColumns, toJobResource } from './jobResource.js';
import { newestFirst } from './listJobs.js';
import { sumTeacherReceipts, type TeacherAnswer } from './teacherCalls.js';

/** A query of the jobs of any project. Its rows leave out what callers sent and the model answered. */
export interface OperatorJobQuery {
  readonly project_id?: string;
  readonly statuses?: readonly JobStatus[];
  readonly kind?: JobKind;
  readonly limit: number;
}

/** Newest first. */
export async function listOperatorJobs(db: Kysely<Database>, { project_id, statuses, kind, limit }: OperatorJobQuery) {
  return db
    .selectFrom('jobs')
    .innerJoin('projects', 'projects.id', 'jobs.project_id')
    .select(['jobs.id', 'projects.name as project', 'tenant_id', 'subject_name as subject_id', 'kind', 'status'])
    .select(['phase', 'adapter_version', 'error_code', 'reserved_microusd', 'charged_microusd', 'attempts'])
    .select(['jobs.created_at', 'jobs.updated_at'])
    .$if(project_id !== undefined, (query) => query.where('project_id', '=', project_id ?? ''))
    .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? 'inference'))
    .$if(project_id !== undefined, (query) => query.orderBy(newestFirst))
    .$if(project_id === undefined, (query) => query.orderBy('sequence', 'desc'))
    .limit(limit)
    .execute();
}

export type OperatorJob = Omit<Job, 'result'> & {
  /** The project's name. */
  readonly project: string;
  readonly api_key_id: string;
  readonly execution: {
    readonly worker_id: string | null;
    readonly lease_expires_at: Date | null;
    /** Claims since the job last made progress. */
    readonly attempts: number;
    readonly training_steps: number;
  };
  /** The finished phases of a learning job. */
  readonly phases: readonly { readonly phase: string; readonly finished_at: Date }[];
  /** Calls to a remote teacher, and what their receipts say. */
  readonly teacher_calls: {
    readonly made: number;
    readonly without_receipt: number;
  } & TeacherAnswer['usage'];
};

/** `null` if there is no such job. */
export async function readOperatorJob(db: Kysely<Database>, jobId: string): Promise<OperatorJob | null> {
  const row = await db
    .selectFrom('jobs')
    .select(jobResourceColumns)
    .select(['project_id', 'api_key_id', 'worker_id', 'lease_expires_at', 'attempts', 'training_steps'])
    .where('id', '=', jobId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { name: project } = await db
    .selectFrom('projects')
    .select('name')
    .where('id', '=', row.project_id)
    .executeTakeFirstOrThrow();
  const job = jobSchema.omit({ result: true }).parse(toJobResource({ ...row, result: null }));
  const { api_key_id, worker_id, lease_expires_at, attempts, training_steps } = row;
  const execution = { worker_id, lease_expires_at, attempts, training_steps };
  const phases = await finishedPhases(db, jobId);
  const teacherCalls = { ...(await countTeacherCalls(db, jobId)), ...(await sumTeacherReceipts(db, jobId)) };
  return { ...job, project, api_key_id, execution, phases, teacher_calls: teacherCalls };
}

function finishedPhases(db: Kysely<Database>, jobId: string): Promise<OperatorJob['phases']> {
  return db
    .selectFrom('job_phases')
    .select(['phase', 'finished_at'])
    .where('job_id', '=', jobId)
    .orderBy('finished_at')
    .execute();
}

function countTeacherCalls(
  db: Kysely<Database>,
  jobId: string,
): Promise<Pick<OperatorJob['teacher_calls'], 'made' | 'without_receipt'>> {
  return db
    .selectFrom('teacher_calls')
    .select([
      sql<number>`count(*)`.as('made'),
      sql<number>`count(*) filter (where not has_receipt)`.as('without_receipt'),
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
}
