import { z } from 'zod';
import { jsonProblems } from './jsonProblems.js';
import { limits } from './limits.js';
import { nestingProblem, nestsAtMost, maxNestingLevels } from './nesting.js';
import { wireToolCall, type WireMessage, type WireTool, type WireToolCall, type WireToolChoice } from './requests.js';

/** Where a conversation breaks a rule: the path of the field, and what is allowed. */
export interface ConversationProblem {
  readonly param: string;
  readonly message: string;
}

export interface Conversation {
  readonly messages: readonly WireMessage[];
  readonly tools?: readonly WireTool[] | undefined;
  readonly tool_choice?: WireToolChoice | undefined;
}

/**
 * Checks the rules over a whole conversation and returns the first problem.
 * - Only tool results and messages of the assistant may be empty.
 * - Call ids are unique.
 * - An assistant message with calls is followed at once by exactly one result for each, in any order.
 * - `arguments` is the text of a JSON object.
 * - The final turn is a user message or a completed tool-result block.
 * - Tool names are unique, and a forced call is of an offered tool.
 */
export function findConversationProblem(conversation: Conversation): ConversationProblem | null {
  const tools = conversation.tools ?? [];
  return (
    findToolCallProblem(conversation.messages) ??
    findContentProblem(conversation.messages) ??
    findToolListProblem(tools) ??
    findToolChoiceProblem(conversation.tool_choice, tools)
  );
}

/**
 * Whether a call by a model may stand in the further conversation. Its `arguments` may be too long, or nested too
 * deeply.
 */
export function isSendableCall(call: WireToolCall): boolean {
  const parsed = wireToolCall.safeParse(call);
  return parsed.success && findArgumentsProblem(parsed.data.function.arguments) === null;
}

/** As parsed from JSON. */
interface SentConversation {
  readonly messages: unknown;
  readonly tools?: unknown;
}

/** Finds what reading by the schema cannot see any more. */
export function findSentProblem(sent: SentConversation): ConversationProblem | null {
  return findLostKeyProblem(sent.tools) ?? findSizeProblem(sent);
}

/** Zod drops `__proto__` of a record silently, so that a changed request would look like the one before. */
function findLostKeyProblem(tools: unknown): ConversationProblem | null {
  const index = Array.isArray(tools) ? tools.findIndex((tool) => Object.hasOwn(parametersOf(tool), '__proto__')) : -1;
  if (index < 0) return null;
  return { param: `tools[${index}].function.parameters.__proto__`, message: 'this field is not accepted' };
}

function parametersOf(tool: unknown): object {
  const parsed = z.looseObject({ function: z.looseObject({ parameters: z.custom<object>(isObject) }) }).safeParse(tool);
  return parsed.data?.function.parameters ?? {};
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * "Serialized messages and tools together must fit 64,000 string-length units": counts the values as parsed from JSON,
 * before any default is filled in. Empty `tools` means none.
 */
function findSizeProblem(sent: SentConversation): ConversationProblem | null {
  const hasTools = sent.tools !== undefined && !(Array.isArray(sent.tools) && sent.tools.length === 0);
  const units = JSON.stringify(sent.messages).length + (hasTools ? JSON.stringify(sent.tools).length : 0);
  const limit = limits.maxSerializedMessagesAndToolsUnits;
  if (units <= limit) return null;
  return {
    param: 'messages',
    message: `messages and tools together take ${units} units; at most ${limit} are allowed`,
  };
}

/** "The content of a system, developer or user message is not empty". */
function findContentProblem(messages: readonly WireMessage[]): ConversationProblem | null {
  const index = messages.findIndex(({ role, content }) => (role === 'system' || role === 'user') && content === '');
  if (index < 0) return null;
  const message = 'the text of a system, developer or user message must not be empty';
  return { param: `messages[${index}].content`, message };
}

function findToolCallProblem(messages: readonly WireMessage[]): ConversationProblem | null {
  const seenIds = new Set<string>();
  let openIds = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role !== 'tool' && openIds.size > 0) {
      return { param: at, message: 'every tool call must be answered by a tool message before the next turn' };
    }
    if (message.role === 'tool') {
      if (message.tool_call_id === undefined)
        return { param: `${at}.tool_call_id`, message: 'a tool message needs the id of its call' };
      if (!openIds.delete(message.tool_call_id)) {
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
    openIds = new Set();
    for (const [callIndex, call] of message.tool_calls.entries()) {
      const callAt = `${at}.tool_calls[${callIndex}]`;
      if (seenIds.has(call.id))
        return { param: `${callAt}.id`, message: 'tool call ids must be unique in the conversation' };
      const message = findArgumentsProblem(call.function.arguments);
      if (message !== null) return { param: `${callAt}.function.arguments`, message };
      seenIds.add(call.id);
      openIds.add(call.id);
    }
  }
  const last = messages.at(-1);
  const complete = last?.role === 'user' || (last?.role === 'tool' && openIds.size === 0);
  if (complete) return null;
  return {
    param: `messages[${messages.length - 1}]`,
    message: 'the final turn must be a user message or a completed tool-result block',
  };
}

function findToolListProblem(tools: readonly WireTool[]): ConversationProblem | null {
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    if (names.has(tool.function.name))
      return { param: `tools[${index}].function.name`, message: 'tool names must be unique' };
    names.add(tool.function.name);
  }
  return null;
}

function findToolChoiceProblem(
  choice: WireToolChoice | undefined,
  tools: readonly WireTool[],
): ConversationProblem | null {
  if (choice === 'required' && tools.length === 0)
    return { param: 'tool_choice', message: 'a required call needs at least one tool' };
  if (typeof choice !== 'object') return null;
  if (tools.some((tool) => tool.function.name === choice.function.name)) return null;
  return { param: 'tool_choice.function.name', message: 'no tool of this name is offered' };
}

function findArgumentsProblem(text: string): string | null {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be the text of a JSON object';
  for (const { kind, param } of jsonProblems(text)) if (kind === 'repeated_key') return `the key ${param} occurs twice`;
  return nestsAtMost(value, maxNestingLevels) ? null : nestingProblem;
}

/** `undefined` when it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
