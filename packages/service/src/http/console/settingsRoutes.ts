import { ApiError, readRequest } from '@engraft/contract';
import {
  newProjectRequest,
  projectChangeRequest,
  type ConsoleProject,
  type ConsoleSettings,
} from '@engraft/contract/console';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import { changeProjectForMember, createProjectForMember, readSettings } from '../../console/settings.js';
import type { Database } from '../../db/schema.js';
import { invalid, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { memberOf, projectOf } from './guardRequests.js';

/** Making projects, their names and their settings. */
export function settingsRoutes(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  api.post('/projects', { config: { console: 'operate' } }, async (request): Promise<ConsoleProject> => {
    refuseQueryParameters(request);
    const { name } = readJsonBody(request, (body) => readRequest(newProjectRequest, body));
    const outcome = await createProjectForMember(db, memberOf(request), name);
    if (outcome.kind === 'name_taken') throw nameTaken();
    return { id: outcome.project.id, name, role: 'owner' };
  });

  api.get('/projects/:project/settings', { config: { console: 'look' } }, async (request): Promise<ConsoleSettings> => {
    refuseQueryParameters(request);
    return currentSettings(db, projectOf(request));
  });

  api.post(
    '/projects/:project/settings',
    { config: { console: 'set_project' } },
    async (request): Promise<ConsoleSettings> => {
      refuseQueryParameters(request);
      const changes = readJsonBody(request, (body) => readRequest(projectChangeRequest, body));
      const outcome = await changeProjectForMember(db, memberOf(request), projectOf(request), changes);
      if (outcome.kind === 'name_taken') throw nameTaken();
      if (outcome.kind === 'not_found') throw new ApiError('not_found');
      return currentSettings(db, projectOf(request));
    },
  );
}

async function currentSettings(db: Kysely<Database>, projectId: string): Promise<ConsoleSettings> {
  const settings = await readSettings(db, projectId);
  if (settings === null) throw new ApiError('not_found');
  return settings;
}

function nameTaken(): ApiError {
  return invalid('name', 'another project has this name; choose a different one');
}
