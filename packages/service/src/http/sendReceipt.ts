import { ApiError, type Receipt } from '@engraft/contract';
import type { FastifyReply } from 'fastify';
import type { AdmissionOutcome } from '../admission/admitJob.js';

/** "202 new job, 200 identical replay (receipt shape)"; a refusal is thrown as its error. */
export function sendReceipt(reply: FastifyReply, outcome: AdmissionOutcome): FastifyReply {
  if (outcome.kind === 'refused') {
    throw new ApiError(outcome.code, outcome.code === 'context_length_exceeded' ? { param: 'messages' } : {});
  }
  const receipt: Receipt = { id: outcome.job_id, status_url: `/v1/jobs/${outcome.job_id}` };
  return reply.code(outcome.kind === 'admitted' ? 202 : 200).send(receipt);
}
