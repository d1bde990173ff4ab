import { ApiError, readRequest } from '@engraft/contract';
import { grantRequest, resolutionRequest } from '@engraft/contract/console';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { grantCreditForMember, resolveJobForMember } from '../../console/operatorWork.js';
import { readProjectJob } from '../../console/projectJobs.js';
import type { Database } from '../../db/schema.js';
import { invalid, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { memberOf, projectOf } from './guardRequests.js';

const operate = { config: { console: 'operate' } } as const;

/** Credit that is granted, and jobs that are settled by hand. */
export function operatorRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  api.post('/projects/:project/grants', operate, async (request, reply) => {
    refuseQueryParameters(request);
    const grant = readJsonBody(request, (body) => readRequest(grantRequest, body));
    const { kind } = await grantCreditForMember(db, memberOf(request), { ...grant, project_id: projectOf(request) });
    if (kind === 'too_much') throw invalid('amount_microusd', 'all grants together would be too large a number');
    return reply.code(204).send();
  });

  api.post<{ Params: { job: string } }>('/projects/:project/jobs/:job/resolution', operate, async (request, reply) => {
    refuseQueryParameters(request);
    const resolution = readJsonBody(request, (body) => readRequest(resolutionRequest, body));
    const { job } = request.params;
    if ((await readProjectJob(db, projectOf(request), job)) === null)
      throw new ApiError('not_found', { message: 'The project has no such job.' });
    const outcome = await resolveJobForMember(db, memberOf(request), { ...resolution, job_id: job });
    switch (outcome.kind) {
      case 'resolved':
        return reply.code(204).send();
      case 'not_found':
        throw new ApiError('not_found');
      case 'wrong_status':
        throw invalid('', `the job is ${outcome.status}; only one that needs reconciliation is settled by hand`);
      case 'above_reservation':
        throw invalid('charged_microusd', `at most what was reserved, ${outcome.reserved_microusd}`);
    }
  });
}
