import { z } from 'zod';
import { functionName, identifier, toolCallId } from './identifiers.js';
import { limits } from './limits.js';
import { nestingProblem, nestsAtMost, maxNestingLevels } from './nesting.js';
import { textOfUnits } from './text.js';

/** Request bodies of the native endpoints on the wire. Unknown fields are refused everywhere. */

const functionArguments = textOfUnits(0, limits.maxFunctionArgumentsUnits);

export const wireToolCall = z.strictObject({
  id: toolCallId,
  type: z.literal('function'),
  function: z.strictObject({ name: functionName, arguments: functionArguments }),
});

export const wireMessage = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: textOfUnits(0, limits.maxMessageContentUnits),
  name: functionName.optional(),
  tool_calls: z.array(wireToolCall).min(limits.minToolCalls).max(limits.maxToolCalls).optional(),
  tool_call_id: toolCallId.optional(),
});

const defaultParameters = { type: 'object', properties: {} };

export const wireTool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: functionName,
    description: textOfUnits(0, limits.maxToolDescriptionUnits).optional(),
    parameters: z
      .record(z.string(), z.unknown())
      .refine((value) => nestsAtMost(value, maxNestingLevels), { error: nestingProblem })
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
  messages: z.array(wireMessage).min(limits.minMessages).max(limits.maxMessages),
  tools: z.array(wireTool).max(limits.maxTools).optional(),
  tool_choice: wireToolChoice.optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: responseFormat.optional(),
  max_output_tokens: z
    .int()
    .min(limits.minOutputTokens)
    .max(limits.maxOutputTokens)
    .default(limits.defaultOutputTokens),
  temperature: z.number().min(limits.minTemperature).max(limits.maxTemperature).default(limits.defaultTemperature),
});

export const internalizationRequest = z.strictObject({
  subject_id: identifier,
  tenant_id: identifier.optional(),
  content: textOfUnits(limits.minLearningContentUnits, limits.maxLearningContentUnits),
  max_cost_microusd: z.int().min(limits.minLearningMaxCostMicrousd).max(limits.maxLearningMaxCostMicrousd),
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
    .regex(/^\d{1,3}$/, `must be an integer from ${limits.minJobsPage} to ${limits.maxJobsPage}`)
    .transform(Number)
    .pipe(z.int().min(limits.minJobsPage).max(limits.maxJobsPage))
    .default(limits.defaultJobsPage),
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
