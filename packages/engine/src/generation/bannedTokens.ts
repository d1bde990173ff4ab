import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest } from '../types.js';
import { mayCallTools } from './reply.js';

/**
 * What the sampler never draws for this request. Where no call may be returned, the markup of calls would be nothing
 * but noise in the text, and so would any other token of the template's structure; tags of thoughts are noise where
 * the model is not to think. Where calls may be returned, the model writes as it was trained.
 */
export function bannedTokens(tokenizer: ChatTokenizer, request: GenerateRequest): readonly number[] {
  const { thoughts, others } = tokenizer.answerMarkup;
  return [...(mayCallTools(request) ? [] : others), ...(tokenizer.mayThink(request.prompt) ? [] : thoughts)];
}
