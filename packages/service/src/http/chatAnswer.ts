import {
  ApiError,
  type ChatCompletion,
  type ChatCompletionChunk,
  type ChatDelivery,
  type ChatUsage,
} from '@engraft/contract';
import type { InferenceOutcome, SucceededInference } from '../jobs/readInferenceOutcome.js';

/** A finished inference in the shapes of OpenAI's clients. A replay gives exactly the same answer. */

export function chatCompletionOf(inference: SucceededInference, model: string): ChatCompletion {
  const { tool_calls, finish_reason } = inference.result;
  return {
    ...headOf(inference, model),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: contentOf(inference), ...givenCalls(tool_calls) },
        finish_reason,
        logprobs: null,
      },
    ],
    usage: usageOf(inference),
    service: serviceOf(inference),
  };
}

/**
 * "A content/tool delta (tool deltas carry index, id, function name and the complete argument string), a finish chunk,
 * optional usage chunk."
 */
export function chatChunksOf(
  inference: SucceededInference,
  model: string,
  { include_usage }: Pick<ChatDelivery, 'include_usage'>,
): ChatCompletionChunk[] {
  const { tool_calls, finish_reason } = inference.result;
  const head = {
    ...headOf(inference, model),
    object: 'chat.completion.chunk' as const,
    service: serviceOf(inference),
    ...(include_usage ? { usage: null } : {}),
  };
  const deltas = tool_calls?.map((call, index) => ({ index, ...call }));
  const delta = { role: 'assistant' as const, content: contentOf(inference), ...givenCalls(deltas) };
  const chunks: ChatCompletionChunk[] = [
    { ...head, choices: [{ index: 0, delta, finish_reason: null, logprobs: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason, logprobs: null }] },
  ];
  if (include_usage) chunks.push({ ...head, choices: [], usage: usageOf(inference) });
  return chunks;
}

/** "409 … for chat, pending/failed/reconciliation after admission (with `job_id`, `status_url`)." */
export function chatConflictOf(outcome: Exclude<InferenceOutcome, { kind: 'succeeded' }>, jobId: string): ApiError {
  const where = { job_id: jobId, status_url: statusUrlOf(jobId) };
  if (outcome.kind !== 'failed') return new ApiError(`job_${outcome.kind}`, where);
  const message = `The job failed (${outcome.error_code}); read it at status_url before retrying.`;
  return new ApiError('job_failed', { ...where, message });
}

export function statusUrlOf(jobId: string): string {
  return `/v1/jobs/${jobId}`;
}

function headOf({ job_id, created_at }: SucceededInference, model: string) {
  return { id: job_id.replace(/^job_/, 'chatcmpl_'), created: Math.floor(created_at.getTime() / 1000), model };
}

function serviceOf({ job_id, subject_id, adapter_version }: SucceededInference): ChatCompletion['service'] {
  return { job_id, subject_id, adapter_version };
}

/** `null` if there are only calls. */
function contentOf({ result: { text, tool_calls } }: SucceededInference): string | null {
  return text === '' && tool_calls !== undefined ? null : text;
}

function givenCalls<Calls>(toolCalls: Calls | undefined): { tool_calls?: Calls } {
  return toolCalls === undefined ? {} : { tool_calls: toolCalls };
}

function usageOf({ usage, reasoning_tokens }: SucceededInference): ChatUsage {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
    completion_tokens_details: { reasoning_tokens },
  };
}
