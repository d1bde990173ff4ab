import { internalizationRequest, readRequest } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import { admitInTurn, type TurnContext } from '../../admission/admitInTurn.js';
import { keyOf } from '../authenticateRequest.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { requiredIdempotencyKey, selectedTenant } from '../readHeaders.js';
import { sendReceipt } from '../sendReceipt.js';
import { traceContextOfRequest } from '../traceRequests.js';

const endpoint = '/v1/internalizations';

/** `POST /v1/internalizations` */
export function internalizationRoute(api: FastifyInstance, context: TurnContext): void {
  api.post('/internalizations', { config: { anyScopeOf: ['internalize'] } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotencyKey = requiredIdempotencyKey(request);
    const body = readJsonBody(request, (json) => readRequest(internalizationRequest, json));
    const outcome = await admitInTurn(context, {
      key: keyOf(request),
      tenant_id: selectedTenant(request, body.tenant_id),
      subject_id: body.subject_id,
      // The parent is always the active version.
      adapter_version: undefined,
      endpoint,
      idempotency_key: idempotencyKey,
      trace_context: traceContextOfRequest(request),
      request: {
        kind: 'internalization',
        content: body.content,
        max_cost_microusd: body.max_cost_microusd,
        activate: body.activate,
      },
    });
    return sendReceipt(reply, outcome);
  });
}
