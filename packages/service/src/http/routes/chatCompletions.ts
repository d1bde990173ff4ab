import { baseVersion, readChatRequest, type ChatReading } from '@engraft/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admitChatJob, type ChatAdmissionContext } from '../../admission/admitChatJob.js';
import type { UnderWay } from '../../admission/underWay.js';
import { awaitInference, type InferenceWait } from '../../jobs/awaitInference.js';
import { inferenceJobRequestOf } from '../../jobs/jobRequest.js';
import type { JobWatcher } from '../../jobs/jobWatcher.js';
import type { InferenceOutcome } from '../../jobs/readInferenceOutcome.js';
import { envelopeOf, refusalOf, toApiError } from '../apiErrors.js';
import { keyOf } from '../authenticateRequest.js';
import { chatChunksOf, chatCompletionOf, chatConflictOf } from '../chatAnswer.js';
import { describeError } from '../describeError.js';
import { dataEvent, doneEvent, keepAliveUntil, sendEventStream } from '../eventStream.js';
import { invalid, readJsonBody, refuseQueryParameters } from '../readBody.js';
import { givenOrNewIdempotencyKey, selectedSubject, selectedTenant } from '../readHeaders.js';
import { traceContextOfRequest } from '../traceRequests.js';

const endpoint = '/v1/chat/completions';

export interface ChatContext extends ChatAdmissionContext {
  /** The required value of `model`. */
  readonly model_id: string;
  /** How long a request waits for its job. 0 means not at all. */
  readonly chatWaitMs: number;
  readonly keepaliveMs: number;
  readonly watcher: JobWatcher;
}

/**
 * `POST /v1/chat/completions`: "waits for the same kind of job and returns its result synchronously (or as buffered
 * SSE)". "Cancelling the client stream does not cancel the job."
 */
export function chatRoute(api: FastifyInstance, context: ChatContext): void {
  const { db, watcher, chatWaitMs, model_id, underWay } = context;
  api.post('/chat/completions', { config: { anyScopeOf: ['inference'] } }, async (request, reply) => {
    refuseQueryParameters(request);
    const idempotencyKey = givenOrNewIdempotencyKey(request);
    const chat = readJsonBody(request, (body) => readChatRequest(body, model_id));
    // Also set on an error, after which the caller may want to repeat the same operation.
    void reply.header('idempotency-key', idempotencyKey);
    if (request.state.repeatsAsNew) countUntilAnswered(underWay, request, reply);
    const jobId = await admit(context, request, chat, idempotencyKey);
    void reply.header('x-service-job-id', jobId);

    const wait: InferenceWait = { job_id: jobId, waitMs: chatWaitMs, signal: goneSignal(reply) };
    if (chat.delivery.stream) return sendEventStream(reply, chatEvents(context, request, chat, wait));
    const outcome = await awaitInference(db, watcher, wait);
    if (outcome.kind !== 'succeeded') throw chatConflictOf(outcome, jobId);
    return reply.send(chatCompletionOf(outcome.inference, model_id));
  });
}

async function admit(
  context: ChatContext,
  request: FastifyRequest,
  { subject_id: bodySubjectId, tenant_id: bodyTenantId, adapter_version, inference }: ChatReading,
  idempotencyKey: string,
): Promise<string> {
  const tenantId = selectedTenant(request, bodyTenantId);
  const subjectId = selectedSubject(request, bodySubjectId);
  if (subjectId === null && adapter_version !== undefined && adapter_version !== baseVersion) {
    throw invalid('adapter_version', 'a version needs its subject, in subject_id or the header X-Service-Subject');
  }
  const outcome = await admitChatJob(context, {
    key: keyOf(request),
    tenant_id: tenantId,
    subject_id: subjectId,
    adapter_version,
    endpoint,
    idempotency_key: idempotencyKey,
    trace_context: traceContextOfRequest(request),
    request: inferenceJobRequestOf(inference),
    isNew: request.state.repeatsAsNew,
  });
  if (outcome.kind === 'refused') throw refusalOf(outcome);
  return outcome.job_id;
}

/** The status has been sent, so from here on an error is "the same envelope in a data frame before `[DONE]`". */
async function* chatEvents(
  { db, watcher, model_id, keepaliveMs }: ChatContext,
  request: FastifyRequest,
  { delivery }: ChatReading,
  wait: InferenceWait,
): AsyncGenerator<string, void> {
  try {
    const outcome: InferenceOutcome = yield* keepAliveUntil(awaitInference(db, watcher, wait), keepaliveMs);
    if (outcome.kind !== 'succeeded') throw chatConflictOf(outcome, wait.job_id);
    for (const chunk of chatChunksOf(outcome.inference, model_id, delivery)) yield dataEvent(chunk);
  } catch (error) {
    const answer = toApiError(error);
    request.state.error_code = answer.code;
    if (answer.status >= 500) request.log.error({ error_code: answer.code, error: describeError(error) }, 'failed');
    yield dataEvent(envelopeOf(answer, request.id));
  }
  yield doneEvent;
}

/** A client that has gone already is counted no more: its connection would not say so again. */
function countUntilAnswered(underWay: UnderWay, request: FastifyRequest, { raw }: FastifyReply): void {
  if (!raw.destroyed) raw.once('close', underWay.begin(keyOf(request).project_id));
}

/** Aborts when the client has gone away, even before, and when everything is sent, which then does not matter. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort();
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}
