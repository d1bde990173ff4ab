import { ApiError } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.js';
import { readJob } from '../../jobs/readJob.js';
import { keyOf } from '../authenticateRequest.js';
import { refuseQueryParameters } from '../readBody.js';
import { selectedTenant } from '../readHeaders.js';

/** `GET /v1/jobs/{id}` */
export function jobRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  const config = { anyScopeOf: ['read', 'inference', 'internalize'] } as const;
  api.get<{ Params: { id: string } }>('/jobs/:id', { config }, async (request) => {
    refuseQueryParameters(request);
    const outcome = await readJob(db, keyOf(request), selectedTenant(request), request.params.id);
    if (outcome.kind !== 'visible') throw new ApiError(outcome.kind);
    return outcome.job;
  });
}
