import type { TokenUsage } from '@engraft/contract';

export const noTokens: TokenUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, training_tokens: 0 };

export const addTokens = combine((a, b) => a + b);
export const subtractTokens = combine((a, b) => a - b);
/** The smaller count of each kind. */
export const fewerTokens = combine(Math.min);
/** The larger count of each kind. */
export const moreTokens = combine(Math.max);

export function areNoTokens(usage: TokenUsage): boolean {
  return Object.values(usage).every((count) => count === 0);
}

function combine(count: (a: number, b: number) => number) {
  return (a: TokenUsage, b: TokenUsage): TokenUsage => ({
    input_tokens: count(a.input_tokens, b.input_tokens),
    output_tokens: count(a.output_tokens, b.output_tokens),
    cached_input_tokens: count(a.cached_input_tokens, b.cached_input_tokens),
    training_tokens: count(a.training_tokens, b.training_tokens),
  });
}
