import type { ErrorCode } from '../errors.js';
import { limits } from '../limits.js';
import * as examples from './examples.js';
import type { OperationSource, SuccessSource } from './operation.js';
import type { HttpMethod } from './types.js';

/** The eight endpoints. */

const admissionErrors: readonly ErrorCode[] = [
  'insufficient_credits',
  'spending_limit_reached',
  'execution_unavailable',
  'not_found',
  'adapter_expired',
  'base_model_changed',
  'idempotency_conflict',
  'payload_too_large',
  'queue_full',
  'not_configured',
];

const receipts: Readonly<Record<number, SuccessSource>> = {
  202: { description: 'A new job was admitted.', schema: 'Receipt', examples: { receipt: examples.receiptExample } },
  200: {
    description: 'An identical replay: the receipt of the job that the first request admitted.',
    schema: 'Receipt',
    examples: { receipt: examples.receiptExample },
  },
};

const learn: OperationSource = {
  operationId: 'createInternalization',
  tag: 'Learning',
  summary: 'Learn a passage',
  description: `Admits a job that learns a passage of text into a new version of the subject, on top of its active version. The job reserves \`max_cost_microusd\`; completed compute is charged, also for a rejected candidate, and what is left of the reservation is released. A version that was saved can be tried before it is activated by naming it as \`adapter_version\` of an inference.

After an ambiguous outcome repeat the request with the same idempotency key: a new key would start the work again.`,
  anyScopeOf: ['internalize'],
  parameters: ['IdempotencyKey', 'Tenant'],
  body: { schema: 'InternalizationRequest', example: examples.learningExample },
  responses: receipts,
  errors: [...admissionErrors, 'monthly_capacity_reached'],
};

const infer: OperationSource = {
  operationId: 'createInference',
  tag: 'Inference',
  summary: 'Ask, and read the answer from a job',
  description:
    "Admits a job that answers through the subject's active version, a retained version or the base model. Source passages are never added to the messages. The reservation covers the prompt and the whole output allowance; settlement charges the tokens that were used and releases the rest. A version that has expired fails with `adapter_expired`, and one that was trained on another base model than the service has now with `base_model_changed`; nothing falls back to another.",
  anyScopeOf: ['inference'],
  parameters: ['IdempotencyKey', 'Tenant'],
  body: { schema: 'InferenceRequest', example: examples.inferenceExample },
  responses: receipts,
  errors: [...admissionErrors, 'context_length_exceeded'],
};

function chat(modelId: string): OperationSource {
  return {
    operationId: 'createChatCompletion',
    tag: 'Inference',
    summary: 'Ask, and wait for the answer',
    description: `The same kind of job as a native inference, in the shapes that OpenAI clients use. The request waits up to ${limits.maxChatWaitSeconds} seconds. A job that is then pending, or that failed or needs reconciliation, is answered with 409, \`job_id\` and \`status_url\`.

With \`stream: true\` the answer comes as server-sent events after it has been generated and checked: keepalive comments while the job runs, a delta with the text or the calls, a chunk with the finish reason, a usage chunk when \`stream_options.include_usage\` asks for it, and \`[DONE]\`. Where the job gives no answer, a frame with the error envelope takes the place of the chunks. Closing the connection does not cancel the job.

Without a subject the base model answers.`,
    anyScopeOf: ['inference'],
    parameters: ['OptionalIdempotencyKey', 'Tenant', 'Subject'],
    body: { schema: 'ChatCompletionRequest', example: examples.chatExample(modelId) },
    responses: {
      200: {
        description: 'The completion.',
        schema: 'ChatCompletion',
        examples: { completion: examples.completionExample(modelId) },
        headers: ['JobId', 'UsedIdempotencyKey'],
        events: examples.streamExample(modelId),
      },
    },
    errors: [...admissionErrors, 'context_length_exceeded', 'job_pending', 'job_failed', 'job_reconciliation_required'],
  };
}

const readJob: OperationSource = {
  operationId: 'getJob',
  tag: 'Jobs',
  summary: 'Read a job',
  description:
    'Poll with growing pauses until `status` is neither `queued` nor `running`. A key with `inference` or `internalize` reads the jobs that it submitted itself; other jobs of the same tenant need `read`. Name the tenant of a tenant job, or use a key that is restricted to it.',
  anyScopeOf: ['read', 'inference', 'internalize'],
  parameters: ['JobId', 'Tenant'],
  responses: {
    200: {
      description: 'The job.',
      schema: 'Job',
      examples: { inference: examples.inferenceJobExample, learning: examples.learningJobExample },
    },
  },
  errors: ['not_found'],
};

const listJobs: OperationSource = {
  operationId: 'listJobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description:
    'Jobs of the selected tenant, newest first, a page at a time: pass `next_cursor` on until it is `null`. Jobs that are admitted meanwhile neither move nor repeat what follows.',
  anyScopeOf: ['read'],
  parameters: ['Limit', 'Cursor', 'Tenant'],
  responses: { 200: { description: 'A page.', schema: 'JobList', examples: { page: examples.jobListExample } } },
  errors: [],
};

const listSubjects: OperationSource = {
  operationId: 'listSubjects',
  tag: 'Subjects',
  summary: 'List subjects and their versions',
  description:
    'The subjects of the selected tenant: that of `X-Service-Tenant`, that of a restricted key, or the project namespace.',
  anyScopeOf: ['read'],
  parameters: ['Tenant'],
  responses: {
    200: { description: 'The subjects.', schema: 'SubjectList', examples: { subjects: examples.subjectsExample } },
  },
  errors: [],
};

const activate: OperationSource = {
  operationId: 'activateVersion',
  tag: 'Subjects',
  summary: 'Activate a version, or roll back',
  description:
    'Makes a retained version the active one of its subject if the expected version is still the active one, and else changes nothing. To roll back, activate an older version and expect the current one. Jobs that were admitted before keep their version.',
  anyScopeOf: ['adapters'],
  parameters: ['Tenant'],
  body: { schema: 'ActivationRequest', example: examples.activationExample },
  responses: {
    200: {
      description: 'The version is active.',
      schema: 'ActivationResult',
      examples: { activated: examples.activationResultExample },
    },
  },
  errors: ['not_found', 'activation_conflict', 'adapter_expired', 'base_model_changed', 'payload_too_large'],
};

const listModels: OperationSource = {
  operationId: 'listModels',
  tag: 'Models',
  summary: 'The model and its prices',
  description: 'Starts no work and reserves nothing.',
  anyScopeOf: [],
  parameters: [],
  responses: {
    200: { description: 'The one model.', schema: 'ModelCatalogue', examples: { models: examples.modelsExample } },
  },
  errors: [],
};

/** Operations in the order of a reader's first steps. */
export function operationSources(
  modelId: string,
): readonly (readonly [path: string, method: HttpMethod, source: OperationSource])[] {
  return [
    ['/v1/internalizations', 'post', learn],
    ['/v1/inferences', 'post', infer],
    ['/v1/chat/completions', 'post', chat(modelId)],
    ['/v1/jobs/{id}', 'get', readJob],
    ['/v1/jobs', 'get', listJobs],
    ['/v1/subjects', 'get', listSubjects],
    ['/v1/adapters/activate', 'post', activate],
    ['/v1/models', 'get', listModels],
  ];
}
