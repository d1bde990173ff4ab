import { readInferenceRequest, type InferenceRequest } from '@engraft/contract';
import type { FastifyInstance } from 'fastify';
import { admitJob, type AdmissionContext } from '../../admission/admitJob.js';
import type { InferenceJobRequest } from '../../jobs/jobRequest.js';
import { keyOf } from '../authenticateRequest.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { requiredIdempotencyKey, selectedTenant } from '../readHeaders.js';
import { sendReceipt } from '../sendReceipt.js';

const endpoint = '/v1/inferences';

/** `POST /v1/inferences` */
export function inferenceRoute(api: FastifyInstance, context: AdmissionContext): void {
  api.post('/inferences', { config: { anyScopeOf: ['inference'] } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotency_key = requiredIdempotencyKey(request);
    const body = readJsonBody(request, readInferenceRequest);
    const outcome = await admitJob(context, {
      key: keyOf(request),
      tenant_id: selectedTenant(request, body.tenant_id),
      subject_id: body.subject_id,
      adapter_version: body.adapter_version,
      endpoint,
      idempotency_key,
      request: toJobRequest(body),
    });
    return sendReceipt(reply, outcome);
  });
}

/** Fills in what an omitted field means, so that saying it makes no difference. */
function toJobRequest(body: InferenceRequest): InferenceJobRequest {
  return {
    kind: 'inference',
    messages: body.messages,
    tools: body.tools ?? [],
    tool_choice: body.tool_choice ?? 'auto',
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    response_format: body.response_format ?? { type: 'text' },
    max_output_tokens: body.max_output_tokens,
    temperature: body.temperature,
  };
}
