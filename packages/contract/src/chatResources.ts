import { z } from 'zod';
import { wireToolCall } from './requests.js';

/** The answers of `POST /v1/chat/completions`, in the shapes of OpenAI's clients. */

const tokens = z.int().nonnegative();

/** The extension object: which job ran, and on which version. */
export const chatService = z.object({ job_id: z.string(), subject_id: z.string(), adapter_version: z.string() });

/** "Reasoning tokens count in usage; reasoning text is never returned." */
export const chatUsage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  total_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }),
  completion_tokens_details: z.object({ reasoning_tokens: tokens }),
});

export const chatFinishReason = z.enum(['stop', 'length', 'tool_calls']);

export const chatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  /** Unix time in seconds of the job's admission. */
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({
        role: z.literal('assistant'),
        /** `null` when there is nothing but `tool_calls`. */
        content: z.string().nullable(),
        tool_calls: z.array(wireToolCall).optional(),
      }),
      finish_reason: chatFinishReason,
      /** Never offered; OpenAI's clients expect the field. */
      logprobs: z.null(),
    }),
  ),
  usage: chatUsage,
  service: chatService,
});

/** "Tool deltas carry index, id, function name and the complete argument string." */
const toolCallDelta = wireToolCall.extend({ index: z.int() });

export const chatCompletionChunk = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.string(),
  /** Empty in the usage chunk. */
  choices: z.array(
    z.object({
      index: z.int(),
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().nullable().optional(),
        tool_calls: z.array(toolCallDelta).optional(),
      }),
      finish_reason: chatFinishReason.nullable(),
      logprobs: z.null(),
    }),
  ),
  /** Present with `stream_options.include_usage`: `null` in every chunk but the last. */
  usage: chatUsage.nullable().optional(),
  service: chatService,
});

export type ChatService = z.infer<typeof chatService>;
export type ChatUsage = z.infer<typeof chatUsage>;
export type ChatCompletion = z.infer<typeof chatCompletion>;
export type ChatCompletionChunk = z.infer<typeof chatCompletionChunk>;
