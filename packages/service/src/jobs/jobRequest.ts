import {
  responseFormat,
  wireMessage,
  wireTool,
  wireToolCall,
  wireToolChoice,
  type InferenceRequest,
} from '@engraft/contract';
import { z } from 'zod';

/**
 * The content of `jobs.request`: the request with every default filled in, as admission writes it and the worker reads
 * it. Chat completions become the same inference requests. Texts are emptied when the job has ended.
 */

export const inferenceJobRequest = z.strictObject({
  kind: z.literal('inference'),
  /** Chat has its own, unlimited number of calls in a message. */
  messages: z.array(wireMessage.extend({ tool_calls: z.array(wireToolCall).optional() })),
  /** Empty if none are offered. */
  tools: z.array(wireTool),
  tool_choice: wireToolChoice,
  parallel_tool_calls: z.boolean(),
  response_format: responseFormat,
  /** The effective limit: the smaller of the requested one and what the prompt leaves of the context. */
  max_output_tokens: z.int().positive(),
  temperature: z.number(),
});

export const internalizationJobRequest = z.strictObject({
  kind: z.literal('internalization'),
  content: z.string(),
  max_cost_microusd: z.int().positive(),
  activate: z.boolean(),
});

export const jobRequest = z.discriminatedUnion('kind', [inferenceJobRequest, internalizationJobRequest]);

export type InferenceJobRequest = z.infer<typeof inferenceJobRequest>;
export type InternalizationJobRequest = z.infer<typeof internalizationJobRequest>;
export type JobRequest = z.infer<typeof jobRequest>;

/** Fills in what an omitted field means, so that sending the default makes no difference. */
export function inferenceJobRequestOf(
  request: Omit<InferenceRequest, 'subject_id' | 'tenant_id' | 'adapter_version'>,
): InferenceJobRequest {
  return {
    kind: 'inference',
    messages: request.messages,
    // `strict: false` is the only value that can be sent.
    tools: (request.tools ?? []).map((tool) => ({ ...tool, function: { ...tool.function, strict: undefined } })),
    tool_choice: request.tool_choice ?? 'auto',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    response_format: request.response_format ?? { type: 'text' },
    max_output_tokens: request.max_output_tokens,
    temperature: request.temperature,
  };
}

/** Reads `jobs.request`. Throws if admission cannot have written it. */
export function parseJobRequest(stored: unknown): JobRequest {
  return jobRequest.parse(stored);
}

export function serializeJobRequest(request: JobRequest): string {
  return JSON.stringify(request);
}
