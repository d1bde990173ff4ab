import type { DecoderConfig } from '../model/config.js';
import { bytesPerToken, slotCapacity } from './kvCache.js';

export interface KvLimits {
  /** Bytes of keys and values of the sequences that have begun. */
  readonly maxCacheBytes: number;
  /** Bytes of keys and values kept for later prompts, see `PrefixCache`. */
  readonly maxPrefixBytes: number;
}

const usualLimits: KvLimits = { maxCacheBytes: 2 * 2 ** 30, maxPrefixBytes: 256 * 2 ** 20 };

/** The default limits. A single sequence that fills the context always fits. */
export function defaultLimits(config: DecoderConfig): KvLimits {
  const largest = cacheBytes(config, [config.contextLength], config.contextLength);
  return { ...usualLimits, maxCacheBytes: Math.max(usualLimits.maxCacheBytes, largest) };
}

/**
 * The most bytes that capacity for one token takes. A cache has two buffers a layer, and one exists twice while it is
 * resized.
 */
export function capacityBytesPerToken(config: DecoderConfig): number {
  return bytesPerToken(config) + bytesPerToken(config) / (2 * config.layers);
}

/**
 * Bytes of the caches when sequences of these lengths run together and a prompt of `promptTokens` is being read. Every
 * slot is as long as the longest sequence, and the prompt has a cache of its own.
 */
export function cacheBytes(config: DecoderConfig, lengths: readonly number[], promptTokens: number): number {
  return (slotTokens(lengths) + slotCapacity(promptTokens)) * capacityBytesPerToken(config);
}

/** The capacity, in tokens, of the slots for sequences of these lengths. */
function slotTokens(lengths: readonly number[]): number {
  return lengths.length * slotCapacity(Math.max(1, ...lengths));
}

/** Shares of the bound, in tokens: one for the slots of running sequences, one for the cache of the prompt. */
export interface KvShares {
  readonly maxRunningTokens: number;
  readonly maxPromptTokens: number;
}

/**
 * Divides a bound of `maxBytes` so that sequences of these lengths can run to their ends. The last one begins once its
 * prompt of `promptTokens` is read. `undefined` if they do not fit.
 */
export function kvShares(
  config: DecoderConfig,
  maxBytes: number,
  lengths: readonly number[],
  promptTokens: number,
): KvShares | undefined {
  const prompt = slotCapacity(promptTokens);
  const runningTokens = Math.floor(maxBytes / capacityBytesPerToken(config)) - prompt;
  return slotTokens(lengths) <= runningTokens
    ? { maxRunningTokens: runningTokens, maxPromptTokens: prompt }
    : undefined;
}
