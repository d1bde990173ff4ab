import type { DecoderConfig } from '../model/config.js';
import { bytesPerToken, slotCapacity } from './kvCache.js';

export interface KvLimits {
  /** Bytes of keys and values of the sequences in the works. */
  readonly cacheBytes: number;
  /** Bytes of keys and values kept for prompts to come, see `PrefixCache`. */
  readonly prefixBytes: number;
}

const DEFAULT_LIMITS: KvLimits = { cacheBytes: 2 * 2 ** 30, prefixBytes: 256 * 2 ** 20 };

/** The default limits; a single sequence that fills the context fits in any case. */
export function defaultLimits(config: DecoderConfig): KvLimits {
  const largest = cacheBytes(config, [config.contextLength], config.contextLength);
  return { ...DEFAULT_LIMITS, cacheBytes: Math.max(DEFAULT_LIMITS.cacheBytes, largest) };
}

/**
 * Bytes of the caches when sequences of these lengths run together and a prompt of `promptTokens` is being read: every
 * slot is as long as the longest sequence, and the prompt is read in a cache of its own.
 */
export function cacheBytes(config: DecoderConfig, lengths: readonly number[], promptTokens: number): number {
  const tokens = lengths.length * slotCapacity(Math.max(1, ...lengths)) + slotCapacity(promptTokens);
  return tokens * bytesPerToken(config);
}
