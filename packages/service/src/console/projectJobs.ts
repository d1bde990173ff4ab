import type { ConsoleJob, ConsoleJobList, ConsoleJobQuery } from '@engraft/contract/console';
import { sql, type Kysely } from 'kysely';
import type { Database } from '../db/schema.js';
import { isId } from '../ids.js';
import { newestFirst } from '../jobs/listJobs.js';
import { jobResourceColumns, toJobResource } from '../jobs/jobResource.js';
import { readLearningTrace } from '../jobs/learningTrace.js';
import { priceCardOf } from '../pricing/priceCardOf.js';
import { consoleKey } from './consoleKey.js';

const pageSize = 50;

/** A page of all tenants' jobs of a project, newest first; `cursor` is the last job of the page before. */
export async function listProjectJobs(
  db: Kysely<Database>,
  projectId: string,
  { kind, status, subject, cursor }: ConsoleJobQuery,
): Promise<ConsoleJobList> {
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'tenant_id', 'subject_name as subject_id', 'kind', 'status', 'phase'])
    .select(['reserved_microusd', 'charged_microusd', 'settled', 'created_at', 'updated_at'])
    .where('project_id', '=', projectId)
    .where('forgotten_at', 'is', null)
    .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? 'inference'))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'queued'))
    .$if(subject !== undefined, (query) => query.where('subject_name', '=', subject ?? ''))
    .$if(cursor !== undefined, (query) =>
      query.where(newestFirst, '>', (eb) =>
        eb
          .selectFrom('jobs as last')
          .select(sql<number>`-last.sequence`.as('place'))
          .where('last.id', '=', isId('job', cursor ?? '') ? (cursor ?? '') : '')
          .where('last.project_id', '=', projectId),
      ),
    )
    .orderBy(newestFirst)
    .limit(pageSize + 1)
    .execute();
  const data = rows.slice(0, pageSize).map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }));
  return { data, next_cursor: rows.length > pageSize ? (data.at(-1)?.id ?? null) : null };
}

/** `null`: the project has no such job, or it is forgotten. */
export async function readProjectJob(
  db: Kysely<Database>,
  projectId: string,
  jobId: string,
): Promise<ConsoleJob | null> {
  if (!isId('job', jobId)) return null;
  const row = await db
    .selectFrom('jobs')
    .innerJoin('api_keys', 'api_keys.id', 'jobs.api_key_id')
    .select(jobResourceColumns.map((column) => `jobs.${column}` as const))
    .select(['training_steps', 'api_keys.name as key_name'])
    .where('jobs.id', '=', jobId)
    .where('jobs.project_id', '=', projectId)
    .where('forgotten_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const phases = await db
    .selectFrom('job_phases')
    .select(['phase', 'finished_at', 'input_tokens', 'output_tokens', 'cached_input_tokens', 'training_tokens'])
    .where('job_id', '=', jobId)
    .orderBy('finished_at')
    .execute();
  const sender = row.key_name === consoleKey.name ? await findSender(db, jobId) : null;
  return {
    job: toJobResource(row),
    submitted_by: sender ?? `key ${row.key_name}`,
    training_steps: row.training_steps,
    phases: phases.map(({ phase, finished_at, ...usage }) => ({
      phase,
      finished_at: finished_at.toISOString(),
      usage,
    })),
    rates: ratesOf(row.pricing_version),
    trace: row.kind === 'internalization' ? await readLearningTrace(db, jobId) : null,
  };
}

function ratesOf(pricingVersion: string): ConsoleJob['rates'] {
  const card = priceCardOf(pricingVersion);
  return {
    input_nanousd_per_token: card.input_nanousd_per_token,
    output_nanousd_per_token: card.output_nanousd_per_token,
    cached_input_nanousd_per_token: card.cached_input_nanousd_per_token,
    training_nanousd_per_token: card.training_nanousd_per_token,
  };
}

async function findSender(db: Kysely<Database>, jobId: string): Promise<string | null> {
  const event = await db
    .selectFrom('audit_events')
    .select('actor')
    .where('target', '=', jobId)
    .where('action', 'in', ['job.ask', 'job.learn'])
    .executeTakeFirst();
  return event?.actor ?? null;
}
