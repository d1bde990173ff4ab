import type { SubjectList } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.js';
import { listSubjects } from '../../subjects/listSubjects.js';
import { keyOf } from '../authenticateRequest.js';
import { refuseQueryParameters } from '../readBody.js';
import { selectedTenant } from '../readHeaders.js';

/** `GET /v1/subjects`: "No query parameters, no pagination." */
export function subjectRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  api.get('/subjects', { config: { anyScopeOf: ['read'] } }, async (request): Promise<SubjectList> => {
    refuseQueryParameters(request);
    const { project_id } = keyOf(request);
    return { data: await listSubjects(db, { project_id, tenant_id: selectedTenant(request) }) };
  });
}
