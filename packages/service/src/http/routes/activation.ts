import { activationRequest, ApiError, readRequest, type ActivationResult } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Database } from '../../db/schema.js';
import { activateInNamespace } from '../../versions/activateInNamespace.js';
import { keyOf } from '../authenticateRequest.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { selectedTenant } from '../readHeaders.js';

/** `POST /v1/adapters/activate`: "Synchronous; starts no job; does not use the idempotency mechanism." */
export function activationRoute(api: FastifyInstance, { db }: { readonly db: Kysely<Database> }): void {
  const config = { anyScopeOf: ['adapters'] } as const;
  api.post('/adapters/activate', { config }, async (request): Promise<ActivationResult> => {
    refuseQueryParameters(request);
    const body = readJsonBody(request, (json) => readRequest(activationRequest, json));
    const { version_id, expected_version_id } = body;
    const outcome = await activateInNamespace(db, {
      project_id: keyOf(request).project_id,
      tenant_id: selectedTenant(request, body.tenant_id),
      version_id,
      expected_version_id,
    });
    if (outcome.kind !== 'activated') throw new ApiError(outcome.kind);
    return { version_id, revision: outcome.revision };
  });
}
