import { activationRequest, ApiError, readRequest, type ActivationResult } from '@engraft/contract';
import {
  consoleJobQuery,
  consoleSubjectQuery,
  newKeyRequest,
  type ConsoleJob,
  type ConsoleJobList,
  type ConsoleKey,
  type ConsoleKeyList,
  type ConsoleSubjectList,
  type CreatedKey,
} from '@engraft/contract/console';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { listProjectJobs, readProjectJob } from '../../console/projectJobs.js';
import { activateForMember, createKeyForMember, revokeKeyForMember } from '../../console/work.js';
import type { Database } from '../../db/schema.js';
import type { ApiKey } from '../../keys/apiKey.js';
import { expiryAfter } from '../../keys/keyExpiry.js';
import { listKeys } from '../../keys/listKeys.js';
import { listSubjects } from '../../subjects/listSubjects.js';
import { invalid, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { readQuery } from '../readQuery.js';
import { memberOf, projectOf } from './guardRequests.js';

const look = { config: { console: 'look' } } as const;
const manageKeys = { config: { console: 'manage_keys' } } as const;
const activate = { config: { console: 'activate' } } as const;

/** Keys, jobs and subjects of a project, and the changes to them that need no model work. */
export function projectRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  keyRoutes(api, db);
  jobRoutes(api, db);
  subjectRoutes(api, db);
}

function keyRoutes(api: FastifyInstance, db: Kysely<Database>): void {
  api.get('/projects/:project/keys', look, async (request): Promise<ConsoleKeyList> => {
    refuseQueryParameters(request);
    return { data: (await listKeys(db, projectOf(request))).map(toConsoleKey) };
  });

  api.post('/projects/:project/keys', manageKeys, async (request): Promise<CreatedKey> => {
    const { expires, ...wanted } = readJsonBody(request, (body) => readRequest(newKeyRequest, body));
    const key = { ...wanted, project_id: projectOf(request), expires_at: expiryAfter(expires) };
    const outcome = await createKeyForMember(db, memberOf(request), key);
    if (outcome.kind === 'project_not_found') throw new ApiError('not_found');
    if (outcome.kind === 'too_many_keys')
      throw invalid('', 'the project has 50 keys that are not revoked, expired ones among them; revoke one first');
    return { key: toConsoleKey(outcome.key), secret: outcome.secret };
  });

  api.post<{ Params: { key: string } }>(
    '/projects/:project/keys/:key/revoke',
    manageKeys,
    async (request): Promise<ConsoleKey> => {
      const named = { key_id: request.params.key, project_id: projectOf(request) };
      const outcome = await revokeKeyForMember(db, memberOf(request), named);
      if (outcome.kind === 'not_found') throw new ApiError('not_found');
      return toConsoleKey(outcome.key);
    },
  );
}

function jobRoutes(api: FastifyInstance, db: Kysely<Database>): void {
  api.get('/projects/:project/jobs', look, async (request): Promise<ConsoleJobList> => {
    const query = readQuery(request, (parameters) => readRequest(consoleJobQuery, parameters));
    return listProjectJobs(db, projectOf(request), query);
  });

  api.get<{ Params: { job: string } }>('/projects/:project/jobs/:job', look, async (request): Promise<ConsoleJob> => {
    refuseQueryParameters(request);
    const job = await readProjectJob(db, projectOf(request), request.params.job);
    if (job === null) throw new ApiError('not_found', { message: 'The project has no such job.' });
    return job;
  });
}

function subjectRoutes(api: FastifyInstance, db: Kysely<Database>): void {
  api.get('/projects/:project/subjects', look, async (request): Promise<ConsoleSubjectList> => {
    const { tenant_id } = readQuery(request, (parameters) => readRequest(consoleSubjectQuery, parameters));
    return { data: await listSubjects(db, { project_id: projectOf(request), tenant_id: tenant_id ?? null }) };
  });

  api.post('/projects/:project/activations', activate, async (request): Promise<ActivationResult> => {
    const { version_id, expected_version_id, tenant_id } = readJsonBody(request, (body) =>
      readRequest(activationRequest, body),
    );
    const outcome = await activateForMember(db, memberOf(request), {
      project_id: projectOf(request),
      tenant_id: tenant_id ?? null,
      version_id,
      expected_version_id,
    });
    if (outcome.kind !== 'activated') throw new ApiError(outcome.kind);
    return { version_id, revision: outcome.revision };
  });
}

function toConsoleKey(key: ApiKey): ConsoleKey {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    tenant_id: key.tenant_id,
    created_at: key.created_at.toISOString(),
    expires_at: key.expires_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    last_used_at: key.last_used_at?.toISOString() ?? null,
  };
}
