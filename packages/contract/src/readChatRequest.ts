import { chatRequest, type ChatMessageInput, type ChatRequest, type ChatToolCallInput } from './chatRequest.js';
import { findConversationProblem, findSentProblem } from './conversation.js';
import { limits } from './limits.js';
import { readRequest, type ReadOutcome } from './readRequest.js';
import type { InferenceRequest, WireMessage, WireToolCall } from './requests.js';

/** A chat request in the terms of the native endpoint, and how to send its answer. */
export interface ChatReading {
  readonly subject_id: string | undefined;
  readonly tenant_id: string | undefined;
  readonly adapter_version: string | undefined;
  readonly inference: Omit<InferenceRequest, 'subject_id' | 'tenant_id' | 'adapter_version'>;
  readonly delivery: ChatDelivery;
}

/** Transport only: it changes nothing about the job. */
export interface ChatDelivery {
  readonly stream: boolean;
  readonly include_usage: boolean;
}

/**
 * Reads the body of `POST /v1/chat/completions`, with every rule that needs only the body. It reads `developer` as
 * `system`, joins text parts, reads `max_tokens` as `max_completion_tokens` and `null` of an optional field as omitted,
 * and leaves out what clients send back of an answer and nobody needs.
 */
export function readChatRequest(body: unknown, modelId: string): ReadOutcome<ChatReading> {
  const outcome = readRequest(chatRequest, body);
  if (outcome.kind === 'invalid') return outcome;
  const request = outcome.value;
  const problem = findFieldProblem(request, modelId) ?? findMessageProblem(request.messages);
  if (problem !== null) return { kind: 'invalid', ...problem };
  const value = normalise(request);
  // The schema has shown that the body is an object with these fields. Their size counts as they were sent.
  const sent = body as { messages: unknown; tools?: unknown };
  const whole =
    findConversationProblem(value.inference) ?? findSentProblem({ ...sent, tools: sent.tools ?? undefined });
  return whole === null ? { kind: 'read', value } : { kind: 'invalid', ...whole };
}

interface Problem {
  readonly param: string;
  readonly message: string;
}

function findFieldProblem(request: ChatRequest, modelId: string): Problem | null {
  if (request.model !== modelId) return { param: 'model', message: `the only model is ${modelId}` };
  if (isGiven(request.max_tokens) && isGiven(request.max_completion_tokens)) {
    return { param: 'max_tokens', message: 'send max_completion_tokens alone; this is its legacy alias' };
  }
  return null;
}

/** "null allowed for assistant messages carrying function calls", and so is leaving `content` out. */
function findMessageProblem(messages: readonly ChatMessageInput[]): Problem | null {
  for (const [index, message] of messages.entries()) {
    const param = `messages[${index}].content`;
    const calls = message.role === 'assistant' && (message.tool_calls?.length ?? 0) > 0;
    if (!isGiven(message.content) && !calls) {
      return { param, message: 'only an assistant message that makes tool calls may go without text' };
    }
    if (textOf(message.content).length > limits.maxMessageContentUnits) {
      return { param, message: `its parts must take at most ${limits.maxMessageContentUnits} UTF-16 units together` };
    }
  }
  return null;
}

function normalise(request: ChatRequest): ChatReading {
  const maxOutputTokens = request.max_completion_tokens ?? request.max_tokens ?? limits.defaultOutputTokens;
  return {
    subject_id: request.subject_id ?? undefined,
    tenant_id: request.tenant_id ?? undefined,
    adapter_version: request.adapter_version ?? undefined,
    inference: {
      messages: request.messages.map(toWireMessage),
      tools: request.tools ?? undefined,
      tool_choice: request.tool_choice ?? undefined,
      parallel_tool_calls: request.parallel_tool_calls ?? undefined,
      response_format: request.response_format ?? undefined,
      max_output_tokens: maxOutputTokens,
      temperature: request.temperature ?? limits.defaultTemperature,
    },
    delivery: {
      stream: request.stream ?? false,
      include_usage: request.stream_options?.include_usage ?? false,
    },
  };
}

/** "`developer` as `system`, a text-part array joined to a string". No calls are the same as none given. */
function toWireMessage({ role, content, name, tool_calls, tool_call_id }: ChatMessageInput): WireMessage {
  const calls = tool_calls ?? [];
  return {
    role: role === 'developer' ? 'system' : role,
    content: textOf(content),
    ...(isGiven(name) ? { name } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireToolCall) }),
    ...(isGiven(tool_call_id) ? { tool_call_id } : {}),
  };
}

function toWireToolCall({ id, type, function: called }: ChatToolCallInput): WireToolCall {
  return { id, type, function: { name: called.name, arguments: called.arguments } };
}

function textOf(content: ChatMessageInput['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text).join('');
}

function isGiven<Value>(value: Value): value is NonNullable<Value> {
  return value !== null && value !== undefined;
}
