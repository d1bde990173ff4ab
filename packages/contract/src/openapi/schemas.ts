import { chatMessage, chatRequest, chatToolCall } from '../chatRequest.js';
import { chatCompletion, chatCompletionChunk, chatService, chatUsage } from '../chatResources.js';
import {
  activationRequest,
  inferenceRequest,
  internalizationRequest,
  responseFormat,
  wireMessage,
  wireTool,
  wireToolCall,
  wireToolChoice,
} from '../requests.js';
import {
  activationResult,
  inferenceResult,
  job,
  jobList,
  jobListItem,
  learningResult,
  modelCatalogue,
  modelCatalogueEntry,
  receipt,
  subject,
  subjectList,
  version,
} from '../resources.js';
import { fieldDescriptions, schemaDescriptions, type SchemaName } from './descriptions.js';
import { errorEnvelopeSchema } from './errorSchema.js';
import { type NamedSchemas, toJsonSchemas } from './toJsonSchema.js';
import type { JsonSchema } from './types.js';

/** The very schemas with which the service reads requests. */
const requestSchemas = {
  InferenceRequest: inferenceRequest,
  InternalizationRequest: internalizationRequest,
  ChatCompletionRequest: chatRequest,
  ActivationRequest: activationRequest,
  Message: wireMessage,
  ChatMessage: chatMessage,
  ToolCall: wireToolCall,
  ChatToolCall: chatToolCall,
  Tool: wireTool,
  ToolChoice: wireToolChoice,
  ResponseFormat: responseFormat,
} satisfies NamedSchemas;

const responseSchemas = {
  Receipt: receipt,
  Job: job,
  InferenceResult: inferenceResult,
  LearningResult: learningResult,
  JobList: jobList,
  JobListItem: jobListItem,
  SubjectList: subjectList,
  Subject: subject,
  Version: version,
  ActivationResult: activationResult,
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chatCompletionChunk,
  ChatUsage: chatUsage,
  ChatService: chatService,
  ModelCatalogue: modelCatalogue,
  Model: modelCatalogueEntry,
  Error: errorEnvelopeSchema,
  // These also occur inside responses, and are the same in both directions.
  ToolCall: wireToolCall,
} satisfies NamedSchemas;

/** Every schema under its name, with its descriptions. Throws if a description names no field. */
export function componentSchemas(modelId: string): Record<string, JsonSchema> {
  const schemas: Record<SchemaName, JsonSchema> = {
    ...toJsonSchemas(responseSchemas, 'output'),
    ...toJsonSchemas(requestSchemas, 'input'),
  } as Record<SchemaName, JsonSchema>;
  for (const [name, description] of Object.entries(schemaDescriptions))
    schemas[name as SchemaName].description = description;
  for (const [path, description] of Object.entries(fieldDescriptions)) fieldAt(schemas, path).description = description;
  // The model is a setting of the installation, so it is checked where the setting is known.
  fieldAt(schemas, 'ChatCompletionRequest.model').const = modelId;
  return schemas;
}

/** `Job.usage.input_tokens`. Arrays and nullable objects are stepped through. */
function fieldAt(schemas: Record<string, JsonSchema>, path: string): JsonSchema {
  const [name = '', ...steps] = path.split('.');
  let schema: JsonSchema | undefined = schemas[name];
  for (const step of steps) schema = objectIn(schema)?.properties?.[step];
  if (schema === undefined) throw new Error(`${path} is described, but no schema has it`);
  return schema;
}

function objectIn(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema === undefined || schema.properties !== undefined) return schema;
  return objectIn(schema.items ?? schema.anyOf?.find((each) => each.type !== 'null'));
}
