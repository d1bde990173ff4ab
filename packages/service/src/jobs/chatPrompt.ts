import type { WireMessage } from '@engraft/contract';
import type { ChatMessage, ChatPrompt, ToolChoice } from '@engraft/engine';
import type { InferenceJobRequest } from './jobRequest.js';

/**
 * The engine's view of an inference request. Admission counts the tokens of this prompt and the worker generates from
 * it. Both use this function, so that the price of admission is the price of the work.
 */
export function chatPromptOf(request: Pick<InferenceJobRequest, 'messages' | 'tools' | 'tool_choice'>): ChatPrompt {
  const messages = withResultsInCallOrder(request.messages).map((message): ChatMessage => ({
    role: message.role,
    content: message.content,
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(message.tool_calls === undefined
      ? {}
      : { toolCalls: message.tool_calls.map(({ id, function: called }) => ({ id, ...called })) }),
    ...(message.tool_call_id === undefined ? {} : { toolCallId: message.tool_call_id }),
  }));
  // Facts of a passage are asked for without thinking first, as they were learned. See the prompts of learning.
  const prompt = { messages, thinking: false };
  // The model is not told of tools that it must not call. It would still write calls, and they would be read as
  // text.
  if (request.tools.length === 0 || request.tool_choice === 'none') return prompt;
  const tools = request.tools.map(({ function: { name, description, parameters } }) => ({
    name,
    parameters,
    ...(description === undefined ? {} : { description }),
  }));
  return { ...prompt, tools };
}

/**
 * "Exactly one result for each (any order, nothing between)": chat templates write results without the ids of their
 * calls.
 */
function withResultsInCallOrder(messages: readonly WireMessage[]): WireMessage[] {
  return messages.flatMap((message, index) => {
    if (message.role === 'tool') return [];
    const calls = message.tool_calls ?? [];
    const results = messages.slice(index + 1, index + 1 + calls.length);
    return [message, ...calls.flatMap(({ id }) => results.filter(({ tool_call_id }) => tool_call_id === id))];
  });
}

export function engineToolChoiceOf({ tool_choice }: Pick<InferenceJobRequest, 'tool_choice'>): ToolChoice {
  if (typeof tool_choice === 'string') return { kind: tool_choice };
  return { kind: 'function', name: tool_choice.function.name };
}
