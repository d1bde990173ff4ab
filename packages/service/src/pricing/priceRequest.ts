import { computeChargeMicrousd, type PriceCard } from '@engraft/contract';
import type { ChatPrompt } from '@engraft/engine';
import { chatPromptOf } from '../jobs/chatPrompt.js';
import type { JobRequest } from '../jobs/jobRequest.js';

/** The longest input of the model, and how its tokens are counted. */
export interface PromptMeter {
  /** The exact length of the rendered prompt, in tokens. */
  readonly countTokens: (prompt: ChatPrompt) => number | Promise<number>;
  /** Prompt and output together, in tokens. */
  readonly contextLength: number;
}

export type PriceOutcome =
  /** `request` has the effective output limit. */
  | { readonly kind: 'priced'; readonly request: JobRequest; readonly reserved_microusd: number }
  /** "The rendered prompt leaves no room for one output token." */
  | { readonly kind: 'context_length_exceeded' };

/**
 * Computes the reservation of a request. Inference: "the exact token count of the rendered prompt at the input rate
 * plus the effective output ceiling at the output rate; that ceiling is the smaller of the request's and what the
 * context leaves". Learning: "admission reserves `max_cost_microusd`".
 */
export async function priceRequest(request: JobRequest, meter: PromptMeter, card: PriceCard): Promise<PriceOutcome> {
  if (request.kind === 'internalization') {
    return { kind: 'priced', request, reserved_microusd: request.max_cost_microusd };
  }
  const inputTokens = await meter.countTokens(chatPromptOf(request));
  const outputTokens = Math.min(request.max_output_tokens, meter.contextLength - inputTokens);
  if (outputTokens < 1) return { kind: 'context_length_exceeded' };
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: 0, training_tokens: 0 };
  return {
    kind: 'priced',
    request: { ...request, max_output_tokens: outputTokens },
    reserved_microusd: computeChargeMicrousd(usage, card),
  };
}
