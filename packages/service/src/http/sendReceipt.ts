import type { Receipt } from '@engraft/contract';
import type { FastifyReply } from 'fastify';
import type { AdmissionOutcome } from '../admission/admitJob.js';
import { refusalOf } from './apiErrors.js';
import { statusUrlOf } from './chatAnswer.js';

/** "202 new job, 200 identical replay (receipt shape)". A refusal is thrown as its error. */
export function sendReceipt(reply: FastifyReply, outcome: AdmissionOutcome): FastifyReply {
  if (outcome.kind === 'refused') throw refusalOf(outcome);
  const receipt: Receipt = { id: outcome.job_id, status_url: statusUrlOf(outcome.job_id) };
  return reply.code(outcome.kind === 'admitted' ? 202 : 200).send(receipt);
}
