import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { opensReasoning } from '../tokenizer/thinking.js';
import type { GenerateRequest, GenerateResult, GenerateUsage } from '../types.js';
import type { Generation } from './generationJob.js';
import { NO_THOUGHT, splitReasoning, type ReasoningSplit } from './reasoning.js';
import { CALL_END, forcedOpening, parseToolCalls } from './toolCalls.js';

/** Whether the request's functions are to be looked for in the output. */
export function mayCallTools(request: GenerateRequest): boolean {
  return (request.prompt.tools?.length ?? 0) > 0 && request.toolChoice?.kind !== 'none';
}

/** What the output is made to begin with; empty when the model is free. In a thought, a call would be none. */
export function forcedText(tokenizer: ChatTokenizer, request: GenerateRequest): string {
  const opening = forcedOpening(request.toolChoice);
  return opening !== '' && beginsInReasoning(tokenizer, request) ? NO_THOUGHT + opening : opening;
}

/**
 * With `parallelToolCalls` false, a test that ends the generation when the first call is complete. What a thought
 * quotes is no call. The text of the last tokens is looked at first, which are never fewer than the closing tag takes.
 */
export function singleCallEnd(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
): ((output: readonly number[]) => boolean) | undefined {
  if (request.parallelToolCalls !== false || !mayCallTools(request)) return undefined;
  const split = splitterOf(tokenizer, request);
  const endsCall = (text: string): boolean => text.trimEnd().endsWith(CALL_END);
  return (output) => endsCall(tokenizer.decode(output.slice(-CALL_END.length))) && endsCall(split(output).answer);
}

/** What the caller gets for the tokens that were written. */
export function composeReply(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
  promptTokens: number,
  generation: Generation,
): GenerateResult {
  const { answer: written, reasoningTokens } = splitterOf(tokenizer, request)(generation.tokens);
  const whole = generation.ended === 'length' ? withoutBegunCharacter(written) : written;
  const answer = tokenizer.bareAnswer(request.prompt, whole);
  const usage: GenerateUsage = {
    inputTokens: promptTokens,
    outputTokens: generation.tokens.length,
    cachedInputTokens: generation.reusedTokens,
    reasoningTokens,
  };
  const shared = { usage, ...(request.wantsLogprob === true ? { logprob: generation.logprob } : {}) };
  if (!mayCallTools(request)) return { text: answer, finishReason: generation.ended, toolCalls: [], ...shared };

  const parsed = parseToolCalls(answer, {
    offered: new Set(request.prompt.tools?.map((tool) => tool.name)),
    truncated: generation.ended === 'length',
    single: request.parallelToolCalls === false,
  });
  const invalid = parsed.invalid === undefined ? {} : { invalidToolCall: parsed.invalid };
  const finishReason = parsed.calls.length > 0 && !parsed.cutOff ? 'tool_calls' : generation.ended;
  return { text: parsed.text, finishReason, toolCalls: parsed.calls, ...invalid, ...shared };
}

/** Where the model may not think, what reads like a thought is text. */
function splitterOf(tokenizer: ChatTokenizer, request: GenerateRequest): (tokens: readonly number[]) => ReasoningSplit {
  if (!tokenizer.mayThink(request.prompt)) {
    return (tokens) => ({ answer: tokenizer.decode(tokens), reasoningTokens: 0 });
  }
  const opened = beginsInReasoning(tokenizer, request);
  return (tokens) => splitReasoning(tokenizer, tokens, opened);
}

/** A character of several tokens, of which the ceiling has let only the first be written, reads as U+FFFD. */
function withoutBegunCharacter(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\uFFFD') end -= 1;
  return text.slice(0, end);
}

function beginsInReasoning(tokenizer: ChatTokenizer, { prompt }: GenerateRequest): boolean {
  return opensReasoning(tokenizer.render(prompt));
}
