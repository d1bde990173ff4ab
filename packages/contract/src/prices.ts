import type { ModelPricing } from './resources.js';

/**
 * The price card. Rates are integers of nano-USD (1 micro-USD = 1,000 nano-USD), so that sums are exact. A card is
 * immutable, and a job keeps the one that was current at its admission.
 */
export interface PriceCard {
  readonly version: string;
  readonly input_nanousd_per_token: number;
  readonly output_nanousd_per_token: number;
  /** Replaces the input rate, and is not added to it. */
  readonly cached_input_nanousd_per_token: number;
  readonly training_nanousd_per_token: number;
  readonly storage_usd_per_gb_month: number;
  readonly internalization_fee_usd: number;
}

export const currentPriceCard: PriceCard = {
  version: '2026-11-01',
  input_nanousd_per_token: 12_000,
  output_nanousd_per_token: 30_000,
  cached_input_nanousd_per_token: 2_500,
  training_nanousd_per_token: 36_000,
  storage_usd_per_gb_month: 0.3,
  internalization_fee_usd: 0,
};

export const priceCards: readonly PriceCard[] = [currentPriceCard];

/** The card as `GET /v1/models` shows it, in USD. */
export function pricingOf(card: PriceCard): ModelPricing {
  // One nano-USD a token is a thousandth of a USD per million tokens.
  return {
    version: card.version,
    input_usd_per_million_tokens: card.input_nanousd_per_token / 1_000,
    output_usd_per_million_tokens: card.output_nanousd_per_token / 1_000,
    cached_input_usd_per_million_tokens: card.cached_input_nanousd_per_token / 1_000,
    training_usd_per_million_tokens: card.training_nanousd_per_token / 1_000,
    storage_usd_per_gb_month: card.storage_usd_per_gb_month,
    internalization_fee_usd: card.internalization_fee_usd,
  };
}

/** Tokens as a job counts them. `cached_input_tokens` is a subset of `input_tokens`. */
export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly training_tokens: number;
}

const bytesPerGb = 1_000_000_000n;
/** A month of hosting is 30 days. */
const secondsPerMonth = 30n * 86_400n;

/** The price of the tokens, summed in nano-USD and rounded up once to micro-USD. */
export function computeChargeMicrousd(usage: TokenUsage, card: PriceCard): number {
  const freshInputTokens = usage.input_tokens - usage.cached_input_tokens;
  if (freshInputTokens < 0) throw new RangeError('cached_input_tokens exceeds input_tokens');
  const nanousd =
    BigInt(freshInputTokens) * BigInt(card.input_nanousd_per_token) +
    BigInt(usage.cached_input_tokens) * BigInt(card.cached_input_nanousd_per_token) +
    BigInt(usage.output_tokens) * BigInt(card.output_nanousd_per_token) +
    BigInt(usage.training_tokens) * BigInt(card.training_nanousd_per_token);
  return Number(divideRoundingUp(nanousd, 1_000n));
}

/** The price of hosting a checkpoint of `sizeBytes` for `seconds`, rounded up once to micro-USD. */
export function storageChargeMicrousd(sizeBytes: number, seconds: number, card: PriceCard): number {
  const nanousdPerGbMonth = BigInt(Math.round(card.storage_usd_per_gb_month * 1e9));
  const numerator = nanousdPerGbMonth * BigInt(sizeBytes) * BigInt(seconds);
  return Number(divideRoundingUp(numerator, bytesPerGb * secondsPerMonth * 1_000n));
}

function divideRoundingUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}
