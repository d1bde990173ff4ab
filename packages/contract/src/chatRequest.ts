import { z } from 'zod';
import { functionName, identifier, toolCallId } from './identifiers.js';
import { limits } from './limits.js';
import { maxNestingLevels, nestingProblem, nestsAtMost } from './nesting.js';
import { responseFormat, wireTool, wireToolCall, wireToolChoice } from './requests.js';
import { textOfUnits } from './text.js';

/**
 * The body of `POST /v1/chat/completions` on the wire. `readChatRequest` turns it into the same inference as the native
 * endpoint's. "`null` for an optional field, of the body or of a message, means "omitted", as OpenAI's clients send
 * it".
 */

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });

/** It is dropped, but its size counts. */
const dropped = z
  .unknown()
  .refine((value) => nestsAtMost(value, maxNestingLevels), { error: nestingProblem })
  .optional();

/** "`index` and `parsed_arguments` of a message's tool call are dropped". The latter also occurs beside `arguments`. */
export const chatToolCall = wireToolCall.extend({
  index: dropped,
  parsed_arguments: dropped,
  function: wireToolCall.shape.function.extend({ parsed_arguments: dropped }),
});

/** Fields that clients copy from an answer, or add to it, and send back. */
const onlyEmpty = { error: 'is dropped when it is null or empty, and refused otherwise' };
const emptyObject = z
  .looseObject({})
  .refine((value) => Object.keys(value).length === 0, onlyEmpty)
  .meta({ maxProperties: 0 });
const nothing = z
  .union([z.null(), z.literal(''), z.array(z.unknown()).max(0, onlyEmpty), emptyObject], onlyEmpty)
  .optional();

export const chatMessage = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z
    .union([textOfUnits(0, limits.maxMessageContentUnits), z.array(textPart), z.null()], {
      error: `must be a string of at most ${limits.maxMessageContentUnits} UTF-16 units, an array of {type: 'text', text}, or null`,
    })
    .optional(),
  name: functionName.nullish(),
  tool_calls: z.array(chatToolCall).nullish(),
  tool_call_id: toolCallId.nullish(),
  refusal: nothing,
  annotations: nothing,
  audio: nothing,
  function_call: nothing,
  parsed: nothing,
});

const outputTokens = z.int().min(limits.minOutputTokens).max(limits.maxOutputTokens);

export const chatRequest = z.strictObject({
  model: z.string(),
  messages: z.array(chatMessage).min(limits.minMessages).max(limits.maxMessages),
  subject_id: identifier.nullish(),
  tenant_id: identifier.nullish(),
  adapter_version: identifier.nullish(),
  max_completion_tokens: outputTokens
    .nullish()
    .describe(`Includes reasoning; ${limits.defaultOutputTokens} when neither it nor max_tokens is given.`),
  max_tokens: outputTokens.nullish().describe('Legacy alias of max_completion_tokens; never send both.'),
  temperature: z
    .number()
    .min(limits.minTemperature)
    .max(limits.maxTemperature)
    .nullable()
    .default(limits.defaultTemperature),
  n: z.literal(1).nullish(),
  tools: z.array(wireTool).max(limits.maxTools).nullish(),
  tool_choice: wireToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  stream: z.boolean().nullable().default(false),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).nullish(),
});

export type ChatToolCallInput = z.infer<typeof chatToolCall>;
export type ChatMessageInput = z.infer<typeof chatMessage>;
export type ChatRequest = z.infer<typeof chatRequest>;
/** A body as a caller may send it. */
export type ChatRequestInput = z.input<typeof chatRequest>;
