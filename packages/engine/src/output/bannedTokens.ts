import type { ChatTokenizer } from '../tokenizer/chatTokenizer.js';
import type { GenerateRequest } from '../types.js';
import { mayCallTools } from './reply.js';

/**
 * The tokens that the sampler never draws for this request. Where no call may be returned, call markup and other
 * structural tokens of the template would only be noise in the text. Thought tags are noise where the model is not to
 * think. Where calls may be returned, the model writes as it was trained.
 */
export function bannedTokens(tokenizer: ChatTokenizer, request: GenerateRequest): readonly number[] {
  const { thoughts, others } = tokenizer.answerMarkup;
  return [...(mayCallTools(request) ? [] : others), ...(tokenizer.mayThink(request.prompt) ? [] : thoughts)];
}

/**
 * Ids without a token, never drawn for any request: rows with which the vocabulary was padded to a round number, whose
 * numbers are often chance, and holes in it.
 */
export function tokenlessIds(tokenizer: ChatTokenizer, vocabularySize: number): readonly number[] {
  const ids = Array.from({ length: vocabularySize }, (_, id) => id);
  return ids.filter((id) => !tokenizer.hasToken(id) && !tokenizer.stopTokens.has(id));
}
