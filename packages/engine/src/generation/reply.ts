import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest, GenerateResult, GenerateUsage } from '../types.js';
import type { Generation } from './generationJob.js';
import { opensReasoning, splitReasoning } from './reasoning.js';
import { CALL_END, parseToolCalls } from './toolCalls.js';

/** Whether the request's functions are to be looked for in the output. */
export function mayCallTools(request: GenerateRequest): boolean {
  return (request.prompt.tools?.length ?? 0) > 0 && request.toolChoice?.kind !== 'none';
}

/**
 * With `parallelToolCalls` false, a test that ends the generation when the first call is complete.
 * It looks at the text of the last tokens only: the closing tag is never longer than them.
 */
export function singleCallEnd(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
): ((output: readonly number[]) => boolean) | undefined {
  if (request.parallelToolCalls !== false || !mayCallTools(request)) return undefined;
  return (output) => tokenizer.decode(output.slice(-CALL_END.length)).trimEnd().endsWith(CALL_END);
}

/** What the caller gets for the tokens that were written. */
export function composeReply(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
  promptTokens: number,
  generation: Generation,
): GenerateResult {
  const opened = opensReasoning(tokenizer.render(request.prompt));
  const { answer, reasoningTokens } = splitReasoning(tokenizer, generation.tokens, opened);
  const usage: GenerateUsage = {
    inputTokens: promptTokens,
    outputTokens: generation.tokens.length,
    cachedInputTokens: generation.reusedTokens,
    reasoningTokens,
  };
  if (!mayCallTools(request)) return { text: answer, finishReason: generation.ended, toolCalls: [], usage };

  const parsed = parseToolCalls(answer, {
    offered: new Set(request.prompt.tools?.map((tool) => tool.name)),
    truncated: generation.ended === 'length',
    single: request.parallelToolCalls === false,
  });
  const invalid = parsed.invalid === undefined ? {} : { invalidToolCall: parsed.invalid };
  const finishReason = parsed.calls.length > 0 && !parsed.cutOff ? 'tool_calls' : generation.ended;
  return { text: parsed.text, finishReason, toolCalls: parsed.calls, ...invalid, usage };
}
