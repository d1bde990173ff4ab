import { readRequest } from '@engraft/contract';
import { askRequest, learnRequest, type ConsoleReceipt } from '@engraft/contract/console';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { TurnContext } from '../../admission/admitInTurn.js';
import type { AdmissionOutcome } from '../../admission/admitJob.js';
import { admitForMember } from '../../console/work.js';
import { inferenceJobRequestOf } from '../../jobs/jobRequest.js';
import { refusalOf } from '../apiErrors.js';
import { readJsonBody, refuseQueryParameters } from '../readBody.js';
import { requiredIdempotencyKey } from '../readHeaders.js';
import { memberOf, projectOf } from './guardRequests.js';

/** Answers in the playground are short; what is reserved for them is small. */
const maxAnswerTokens = 256;

/** Learning and asking from the console: jobs like those of the API, admitted by the same rules. */
export function workRoutes(api: FastifyInstance, context: TurnContext): void {
  api.post('/projects/:project/internalizations', { config: { console: 'learn' } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotencyKey = requiredIdempotencyKey(request);
    const body = readJsonBody(request, (json) => readRequest(learnRequest, json));
    const { content, max_cost_microusd, activate } = body;
    const outcome = await admitForMember(context, memberOf(request), projectOf(request), {
      tenant_id: body.tenant_id ?? null,
      subject_id: body.subject_id,
      adapter_version: undefined,
      endpoint: '/console/api/internalizations',
      idempotency_key: idempotencyKey,
      request: { kind: 'internalization', content, max_cost_microusd, activate },
    });
    return sendConsoleReceipt(reply, outcome);
  });

  api.post('/projects/:project/inferences', { config: { console: 'ask' } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotencyKey = requiredIdempotencyKey(request);
    const body = readJsonBody(request, (json) => readRequest(askRequest, json));
    const outcome = await admitForMember(context, memberOf(request), projectOf(request), {
      tenant_id: body.tenant_id ?? null,
      subject_id: body.subject_id,
      adapter_version: body.adapter_version,
      endpoint: '/console/api/inferences',
      idempotency_key: idempotencyKey,
      request: inferenceJobRequestOf({
        messages: [{ role: 'user', content: body.question }],
        max_output_tokens: maxAnswerTokens,
        temperature: 0,
      }),
    });
    return sendConsoleReceipt(reply, outcome);
  });
}

function sendConsoleReceipt(reply: FastifyReply, outcome: AdmissionOutcome): FastifyReply {
  if (outcome.kind === 'refused') throw refusalOf(outcome);
  const receipt: ConsoleReceipt = { id: outcome.job_id };
  return reply.code(outcome.kind === 'admitted' ? 202 : 200).send(receipt);
}
