import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import { opensReasoning } from '../tokenizer/thinking.js';
import type { GenerateRequest, GenerateResult, GenerateUsage } from '../types.js';
import type { Generation } from '../scheduling/generationJob.js';
import { noThought, splitReasoning, type ReasoningSplit } from './reasoning.js';
import { callEnd, forcedOpening, parseToolCalls } from './toolCalls.js';

/** Whether to look for function calls in the output. */
export function mayCallTools(request: GenerateRequest): boolean {
  return (request.prompt.tools?.length ?? 0) > 0 && request.toolChoice?.kind !== 'none';
}

/**
 * The text that the output must begin with; empty if the model is free. It closes an open thought, in which a call
 * would not count.
 */
export function forcedText(tokenizer: ChatTokenizer, request: GenerateRequest): string {
  const opening = forcedOpening(request.toolChoice);
  return opening !== '' && beginsInReasoning(tokenizer, request) ? noThought + opening : opening;
}

/**
 * With `parallelToolCalls` false, returns a test that ends the generation when the first call is complete. Calls quoted
 * in a thought do not count. The test looks at the last tokens first; there are always enough of them for the closing
 * tag.
 */
export function singleCallEnd(
  tokenizer: ChatTokenizer,
  request: GenerateRequest,
): ((output: readonly number[]) => boolean) | undefined {
  if (request.parallelToolCalls !== false || !mayCallTools(request)) return undefined;
  const split = splitterOf(tokenizer, request);
  const endsCall = (text: string): boolean => text.trimEnd().endsWith(callEnd);
  return (output) => endsCall(tokenizer.decode(output.slice(-callEnd.length))) && endsCall(split(output).answer);
}

/** Makes the caller's result from the generated tokens. */
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

/** If the model may not think, whatever looks like a thought is text. */
function splitterOf(tokenizer: ChatTokenizer, request: GenerateRequest): (tokens: readonly number[]) => ReasoningSplit {
  if (!tokenizer.mayThink(request.prompt)) {
    return (tokens) => ({ answer: tokenizer.decode(tokens), reasoningTokens: 0 });
  }
  const opened = beginsInReasoning(tokenizer, request);
  return (tokens) => splitReasoning(tokenizer, tokens, opened);
}

/**
 * Removes a character that the length limit has cut: one of several tokens, of which only the first were written, reads
 * as U+FFFD.
 */
function withoutBegunCharacter(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\uFFFD') end -= 1;
  return text.slice(0, end);
}

function beginsInReasoning(tokenizer: ChatTokenizer, { prompt }: GenerateRequest): boolean {
  return opensReasoning(tokenizer.render(prompt));
}
