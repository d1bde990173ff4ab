/** Requests to `/v1/completions`, whose prompts are token ids. They say whatever a server would choose by itself. */
import { createHash, randomUUID } from 'node:crypto';
import type { GenerateRequest, PreparedGeneration, TokenSequence } from '@engraft/engine';

/** Added to the logits of tokens that must not be drawn. The most that vLLM takes. */
const banBias = -100;

/** Settings that vLLM's own configuration would otherwise decide. */
const neutral = {
  n: 1,
  stream: false,
  top_p: 1,
  top_k: 0,
  repetition_penalty: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // The tokens that end an answer are named, all of them.
  ignore_eos: true,
  skip_special_tokens: false,
  return_token_ids: true,
} as const;

/** The body of a request, and what its receipt must agree with. */
export interface Completion {
  readonly body: Readonly<Record<string, unknown>>;
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly stopTokens: ReadonlySet<number>;
  /** A text that may end the output, too. */
  readonly stopText: string | null;
  /** Whether log-probabilities of the output, or of the prompt, must be there. */
  readonly wants: { readonly output: boolean; readonly prompt: boolean };
}

/** The answer to a request, after the tokens that it must begin with. There must be room for one more. */
export function completionOf(request: GenerateRequest, prepared: PreparedGeneration): Completion {
  const { temperature, minP = 0, seed, isolationKey, wantsLogprob = false } = request;
  const { prompt, forced, maxOutputTokens, stopTokens, banned, endText: stopText } = prepared;
  const sent = [...prompt, ...forced];
  const maxTokens = maxOutputTokens - forced.length;
  const body = {
    ...neutral,
    prompt: sent,
    max_tokens: maxTokens,
    temperature,
    // The engine's min-p compares the model's own probabilities, vLLM's those at the temperature.
    min_p: temperature > 0 && minP > 0 ? minP ** (1 / temperature) : 0,
    ...(seed === undefined ? {} : { seed }),
    stop_token_ids: [...stopTokens],
    ...(stopText === null ? {} : { stop: [stopText], include_stop_str_in_output: true }),
    ...(banned.length === 0 ? {} : { logit_bias: Object.fromEntries(banned.map((id) => [id, banBias])) }),
    ...(wantsLogprob ? { logprobs: 0, return_tokens_as_token_ids: true } : {}),
    cache_salt: saltOf(isolationKey),
  };
  const wants = { output: wantsLogprob, prompt: false };
  return { body, promptTokens: sent.length, maxTokens, stopTokens, stopText, wants };
}

/** The probabilities of a sequence's tokens. vLLM writes at least one token, which is not looked at. */
export function scoringOf({ tokens }: TokenSequence, topK: number): Completion {
  const body = {
    ...neutral,
    prompt: tokens,
    max_tokens: 1,
    temperature: 0,
    prompt_logprobs: topK,
    cache_salt: saltOf(undefined),
  };
  const wants = { output: false, prompt: true };
  return { body, promptTokens: tokens.length, maxTokens: 1, stopTokens: new Set(), stopText: null, wants };
}

/** Attention state is found again under the same salt and adapter only. */
function saltOf(isolationKey: string | undefined): string {
  return isolationKey === undefined ? randomUUID() : createHash('sha256').update(isolationKey).digest('hex');
}
