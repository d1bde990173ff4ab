import { z } from 'zod';
import { functionName, identifier, toolCallId } from './identifiers.js';
import { limits } from './limits.js';
import { nestsAtMost, maxNestingLevels } from './nesting.js';
import { textOfUnits } from './text.js';

/** Request bodies of the native endpoints on the wire. Unknown fields are refused everywhere. */

const functionArguments = textOfUnits(0, limits.function_arguments_units);

export const wireToolCall = z.strictObject({
  id: toolCallId,
  type: z.literal('function'),
  function: z.strictObject({ name: functionName, arguments: functionArguments }),
});

export const wireMessage = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: textOfUnits(0, limits.message_content_units),
  name: functionName.optional(),
  tool_calls: z.array(wireToolCall).min(limits.tool_calls_min).max(limits.tool_calls_max).optional(),
  tool_call_id: toolCallId.optional(),
});

const defaultParameters = { type: 'object', properties: {} };

export const wireTool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: functionName,
    description: textOfUnits(0, limits.tool_description_units).optional(),
    parameters: z
      .record(z.string(), z.unknown())
      .refine((value) => nestsAtMost(value, maxNestingLevels), {
        error: `nested deeper than ${maxNestingLevels} levels`,
      })
      .default(defaultParameters),
    strict: z.literal(false).optional(),
  }),
});

export const wireToolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: functionName }) }),
  ],
  { error: "must be 'auto', 'none', 'required' or {type: 'function', function: {name}}" },
);

export const responseFormat = z.strictObject({ type: z.enum(['text', 'json_object']) });

export const inferenceRequest = z.strictObject({
  subject_id: identifier,
  tenant_id: identifier.optional(),
  adapter_version: identifier.optional(),
  messages: z.array(wireMessage).min(limits.messages_min).max(limits.messages_max),
  tools: z.array(wireTool).max(limits.tools_max).optional(),
  tool_choice: wireToolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: responseFormat.optional(),
  max_output_tokens: z
    .int()
    .min(limits.output_tokens_min)
    .max(limits.output_tokens_max)
    .default(limits.output_tokens_default),
  temperature: z.number().min(limits.temperature_min).max(limits.temperature_max).default(limits.temperature_default),
});

export const internalizationRequest = z.strictObject({
  subject_id: identifier,
  tenant_id: identifier.optional(),
  content: textOfUnits(limits.learning_content_min_units, limits.learning_content_max_units),
  max_cost_microusd: z.int().min(limits.learning_max_cost_min_microusd).max(limits.learning_max_cost_max_microusd),
  activate: z.boolean().default(true),
});

export const activationRequest = z.strictObject({
  version_id: textOfUnits(1, 128),
  expected_version_id: textOfUnits(1, 128).nullable(),
  tenant_id: identifier.optional(),
});

/** The query of `GET /v1/jobs` in the URL. */
export const jobListQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `must be an integer from ${limits.jobs_page_min} to ${limits.jobs_page_max}`)
    .transform(Number)
    .pipe(z.int().min(limits.jobs_page_min).max(limits.jobs_page_max))
    .default(limits.jobs_page_default),
  cursor: z.string().optional(),
});

export type WireMessage = z.infer<typeof wireMessage>;
export type WireToolCall = z.infer<typeof wireToolCall>;
export type WireTool = z.infer<typeof wireTool>;
export type WireToolChoice = z.infer<typeof wireToolChoice>;
export type InferenceRequest = z.infer<typeof inferenceRequest>;
export type InternalizationRequest = z.infer<typeof internalizationRequest>;
export type JobListQuery = z.infer<typeof jobListQuery>;
export type ActivationRequest = z.infer<typeof activationRequest>;
