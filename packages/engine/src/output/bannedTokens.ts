import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest } from '../types.js';
import { mayCallTools } from './reply.js';

/**
 * The tokens that the sampler must not draw for this request. If no call may be returned, call markup and other
 * structural tokens of the template would only be noise in the text. Thought tags are noise if the model must not
 * think. If calls may be returned, the model writes as it was trained.
 */
export function bannedTokens(tokenizer: ChatTokenizer, request: GenerateRequest): readonly number[] {
  const { thoughts, others } = tokenizer.answerMarkup;
  return [...(mayCallTools(request) ? [] : others), ...(tokenizer.mayThink(request.prompt) ? [] : thoughts)];
}

/**
 * Ids without a token, which no request may draw: padding of the vocabulary to a round number, whose rows are often
 * random, and gaps in it.
 */
export function tokenlessIds(tokenizer: ChatTokenizer, vocabularySize: number): readonly number[] {
  const ids = Array.from({ length: vocabularySize }, (_, id) => id);
  return ids.filter((id) => !tokenizer.hasToken(id) && !tokenizer.stopTokens.has(id));
}
