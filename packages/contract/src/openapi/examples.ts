import type { ChatRequestInput } from '../chatRequest.js';
import type { ChatCompletion } from '../chatResources.js';
import { currentPriceCard, pricingOf } from '../prices.js';
import type { ActivationRequest, InferenceRequest, InternalizationRequest } from '../requests.js';
import type { ActivationResult, Job, JobList, ModelCatalogue, Receipt, SubjectList } from '../resources.js';

/** One story for the reference: a support desk teaches a handbook page, asks about it, and rolls back. */

const passage =
  'The Aurora desk lamp has a warranty of five years. Its bulb is of type G9 and is replaced from below, after the lamp has cooled for ten minutes.';
const question = 'How long is the warranty of the Aurora desk lamp?';
const jobId = 'job_5KqTt1mO9vGdHc2LwYpRzX0a';
const versionId = 'ver_Jr8sWn3QeKb6uVx1TfMdCy4h';
const time = '2026-11-20T09:30:00.000Z';
const later = '2026-11-20T09:31:04.512Z';

export const learningExample: Partial<InternalizationRequest> = {
  subject_id: 'handbook',
  content: passage,
  max_cost_microusd: 5_000_000,
};
export const inferenceExample: Partial<InferenceRequest> = {
  subject_id: 'handbook',
  messages: [{ role: 'user', content: question }],
};
export const activationExample: ActivationRequest = { version_id: versionId, expected_version_id: null };
export const receiptExample: Receipt = { id: jobId, status_url: `/v1/jobs/${jobId}` };
export const activationResultExample: ActivationResult = { version_id: versionId, revision: 2 };
export const modelsExample: ModelCatalogue = { data: [{ id: 'model-5.3', pricing: pricingOf(currentPriceCard) }] };

export function chatExample(modelId: string): ChatRequestInput {
  return { model: modelId, subject_id: 'handbook', messages: [{ role: 'user', content: question }] };
}

const common = { tenant_id: null, subject_id: 'handbook', phase: 'done', error: null, created_at: time } as const;

export const inferenceJobExample: Job = {
  ...common,
  id: jobId,
  kind: 'inference',
  status: 'succeeded',
  adapter_version: versionId,
  usage: { input_tokens: 24, output_tokens: 6, cached_input_tokens: 0, training_tokens: 0 },
  billing: {
    reserved_microusd: 61_728,
    charged_microusd: 468,
    settled: true,
    pricing_version: currentPriceCard.version,
    compute_microusd: 468,
    storage_microusd: 0,
  },
  result: { text: 'Five years.', finish_reason: 'stop' },
  updated_at: later,
};

export const learningJobExample: Job = {
  ...common,
  id: 'job_Zt4bXy7NqLs0wRf2KmVdGh9c',
  kind: 'internalization',
  status: 'ready',
  adapter_version: 'base',
  usage: { input_tokens: 9_120, output_tokens: 1_310, cached_input_tokens: 0, training_tokens: 48_000 },
  billing: {
    reserved_microusd: 5_000_000,
    charged_microusd: 1_876_770,
    settled: true,
    pricing_version: currentPriceCard.version,
    compute_microusd: 1_876_740,
    storage_microusd: 30,
  },
  result: {
    candidate: { version_id: versionId },
    validation: {
      passed: true,
      passed_count: 7,
      total_count: 8,
      base_passed_count: 0,
      retention_passed_count: 0,
      retention_total_count: 0,
    },
    training: { steps: 60, tokens: 48_000, final_loss: 0.08 },
    activated: true,
    activation_conflict: false,
  },
  updated_at: later,
};

export const jobListExample: JobList = {
  data: [
    {
      id: jobId,
      kind: 'inference',
      status: 'succeeded',
      phase: 'done',
      adapter_version: versionId,
      created_at: time,
    },
  ],
  next_cursor: null,
};

export const subjectsExample: SubjectList = {
  data: [
    {
      tenant_id: null,
      id: 'handbook',
      active_version: versionId,
      revision: 1,
      versions: [
        {
          id: versionId,
          created_at: time,
          expires_at: '2026-11-21T09:30:00.000Z',
          validation: { passed: 7, total: 8 },
          source_job: learningJobExample.id,
        },
      ],
    },
  ],
};

export function completionExample(modelId: string): ChatCompletion {
  return {
    id: 'chatcmpl-5KqTt1mO9vGdHc2LwYpRzX0a',
    object: 'chat.completion',
    created: 1_795_167_000,
    model: modelId,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Five years.' }, finish_reason: 'stop', logprobs: null },
    ],
    usage: {
      prompt_tokens: 24,
      completion_tokens: 6,
      total_tokens: 30,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    service: { job_id: jobId, subject_id: 'handbook', adapter_version: versionId },
  };
}

/** An example of what the buffered stream sends. */
export function streamExample(modelId: string): string {
  const chunk = (choice: object): string =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-5KqTt1mO9vGdHc2LwYpRzX0a',
      object: 'chat.completion.chunk',
      created: 1_795_167_000,
      model: modelId,
      choices: [{ index: 0, ...choice, logprobs: null }],
      service: { job_id: jobId, subject_id: 'handbook', adapter_version: versionId },
    })}\n\n`;
  return [
    ': keepalive\n\n',
    chunk({ delta: { role: 'assistant', content: 'Five years.' }, finish_reason: null }),
    chunk({ delta: {}, finish_reason: 'stop' }),
    'data: [DONE]\n\n',
  ].join('');
}
