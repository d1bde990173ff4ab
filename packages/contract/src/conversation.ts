import { limits } from './limits.js';
import type { WireMessage, WireTool } from './requests.js';

/** Where a conversation breaks a rule: the path of the field, and what is allowed. */
export interface ConversationProblem {
  readonly param: string;
  readonly message: string;
}

/**
 * The rules over a whole conversation: call ids are unique; an assistant message with calls is followed at once by
 * exactly one result for each, in any order; `arguments` is the text of a JSON object; the final turn is a user
 * message or a completed tool-result block; everything together fits the ceiling. Returns the first problem.
 */
export function findConversationProblem(
  messages: readonly WireMessage[],
  tools: readonly WireTool[] | undefined,
): ConversationProblem | null {
  return findToolCallProblem(messages) ?? findToolListProblem(tools) ?? findSizeProblem(messages, tools);
}

function findToolCallProblem(messages: readonly WireMessage[]): ConversationProblem | null {
  const seen_ids = new Set<string>();
  let open_ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role !== 'tool' && open_ids.size > 0) {
      return { param: at, message: 'every tool call must be answered by a tool message before the next turn' };
    }
    if (message.role === 'tool') {
      if (message.tool_call_id === undefined)
        return { param: `${at}.tool_call_id`, message: 'a tool message needs the id of its call' };
      if (!open_ids.delete(message.tool_call_id)) {
        return {
          param: `${at}.tool_call_id`,
          message: 'no open tool call of the preceding assistant message has this id',
        };
      }
    } else if (message.tool_call_id !== undefined) {
      return { param: `${at}.tool_call_id`, message: 'only a tool message answers a call' };
    }
    if (message.tool_calls === undefined) continue;
    if (message.role !== 'assistant')
      return { param: `${at}.tool_calls`, message: 'only an assistant message makes tool calls' };
    open_ids = new Set();
    for (const [callIndex, call] of message.tool_calls.entries()) {
      const callAt = `${at}.tool_calls[${callIndex}]`;
      if (seen_ids.has(call.id))
        return { param: `${callAt}.id`, message: 'tool call ids must be unique in the conversation' };
      if (!isJsonObjectText(call.function.arguments)) {
        return { param: `${callAt}.function.arguments`, message: 'must be the text of a JSON object' };
      }
      seen_ids.add(call.id);
      open_ids.add(call.id);
    }
  }
  const last = messages.at(-1);
  const complete = last?.role === 'user' || (last?.role === 'tool' && open_ids.size === 0);
  if (complete) return null;
  return {
    param: `messages[${messages.length - 1}]`,
    message: 'the final turn must be a user message or a completed tool-result block',
  };
}

function findToolListProblem(tools: readonly WireTool[] | undefined): ConversationProblem | null {
  const names = new Set<string>();
  for (const [index, tool] of (tools ?? []).entries()) {
    if (names.has(tool.function.name))
      return { param: `tools[${index}].function.name`, message: 'tool names must be unique' };
    names.add(tool.function.name);
  }
  return null;
}

function findSizeProblem(
  messages: readonly WireMessage[],
  tools: readonly WireTool[] | undefined,
): ConversationProblem | null {
  const units = JSON.stringify(messages).length + (tools === undefined ? 0 : JSON.stringify(tools).length);
  if (units <= limits.serialized_messages_and_tools_units) return null;
  return {
    param: 'messages',
    message: `messages and tools together take ${units} units; at most ${limits.serialized_messages_and_tools_units} are allowed`,
  };
}

function isJsonObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
