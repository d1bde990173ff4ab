import { responseFormat, wireMessage, wireTool, wireToolChoice } from '@engraft/contract';
import { z } from 'zod';

/**
 * What `jobs.request` holds: the request with every default filled in, as admission writes it and the worker reads
 * it. Chat completions become the same inference requests. Texts are emptied when the job has ended.
 */

export const inferenceJobRequest = z.strictObject({
  kind: z.literal('inference'),
  messages: z.array(wireMessage),
  /** Empty: none are offered. */
  tools: z.array(wireTool),
  tool_choice: wireToolChoice,
  parallel_tool_calls: z.boolean(),
  response_format: responseFormat,
  /** The effective ceiling: the smaller of the requested one and what the prompt leaves of the context. */
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

/** Reads `jobs.request`. Throws if it is not what admission writes. */
export function parseJobRequest(stored: unknown): JobRequest {
  return jobRequest.parse(stored);
}

export function serializeJobRequest(request: JobRequest): string {
  return JSON.stringify(request);
}
