import { ApiError, jobListQuery, readRequest, type JobList } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.js';
import { listJobs } from '../../jobs/listJobs.js';
import { readJob } from '../../jobs/readJob.js';
import { keyOf } from '../authenticateRequest.js';
import { invalid, refuseQueryParameters } from '../readBody.js';
import { selectedTenant } from '../readHeaders.js';
import { readQuery } from '../readQuery.js';
import { withoutSlash } from '../whatThereIs.js';

/** `GET /v1/jobs/{id}` and `GET /v1/jobs` */
export function jobRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  const config = { anyScopeOf: ['read', 'inference', 'internalize'] } as const;
  api.get<{ Params: { id: string } }>('/jobs/:id', { config }, async (request) => {
    refuseQueryParameters(request);
    if (request.params.id === '') throw new ApiError('not_found', { message: withoutSlash('/v1/jobs') });
    const outcome = await readJob(db, keyOf(request), selectedTenant(request), request.params.id);
    if (outcome.kind !== 'visible') throw new ApiError(outcome.kind);
    return outcome.job;
  });

  api.get('/jobs', { config: { anyScopeOf: ['read'] } }, async (request): Promise<JobList> => {
    const query = readQuery(request, (parameters) => readRequest(jobListQuery, parameters));
    const { project_id } = keyOf(request);
    const outcome = await listJobs(db, { project_id, tenant_id: selectedTenant(request) }, query);
    if (outcome.kind === 'invalid_cursor')
      throw invalid('cursor', 'send the next_cursor of an earlier page of this list');
    return outcome.page;
  });
}
