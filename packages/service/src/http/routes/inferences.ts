import { readInferenceRequest } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import { admitInTurn, type TurnContext } from '../../admission/admitInTurn.js';
import { inferenceJobRequestOf } from '../../jobs/jobRequest.js';
import { keyOf } from '../authenticateRequest.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { requiredIdempotencyKey, selectedTenant } from '../readHeaders.js';
import { sendReceipt } from '../sendReceipt.js';
import { traceContextOfRequest } from '../traceRequests.js';

const endpoint = '/v1/inferences';

/** `POST /v1/inferences` */
export function inferenceRoute(api: FastifyInstance, context: TurnContext): void {
  api.post('/inferences', { config: { anyScopeOf: ['inference'] } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotencyKey = requiredIdempotencyKey(request);
    const body = readJsonBody(request, readInferenceRequest);
    const outcome = await admitInTurn(context, {
      key: keyOf(request),
      tenant_id: selectedTenant(request, body.tenant_id),
      subject_id: body.subject_id,
      adapter_version: body.adapter_version,
      endpoint,
      idempotency_key: idempotencyKey,
      trace_context: traceContextOfRequest(request),
      request: inferenceJobRequestOf(body),
    });
    return sendReceipt(reply, outcome);
  });
}
