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
 * Bytes that room for one token takes at most: of a cache's buffers, two a layer, one is there twice while it is
 * resized.
 */
export function roomBytesPerToken(config: DecoderConfig): number {
  return bytesPerToken(config) + bytesPerToken(config) / (2 * config.layers);
}

/**
 * Bytes of the caches when sequences of these lengths run together and a prompt of `promptTokens` is being read: every
 * slot is as long as the longest sequence, and the prompt is read in a cache of its own.
 */
export function cacheBytes(config: DecoderConfig, lengths: readonly number[], promptTokens: number): number {
  return (slotTokens(lengths) + slotCapacity(promptTokens)) * roomBytesPerToken(config);
}

/** Tokens that the slots of sequences of these lengths have room for. */
function slotTokens(lengths: readonly number[]): number {
  return lengths.length * slotCapacity(Math.max(1, ...lengths));
}

/** What a batch may take of the bound: tokens in the slots of running sequences, and of the prompt being read. */
export interface KvShares {
  readonly runningTokens: number;
  readonly promptTokens: number;
}

/**
 * Shares of a bound of `maxBytes` under which sequences of these lengths can be run to their ends, the last of them
 * once its prompt of `promptTokens` is read; `undefined` if they do not fit.
 */
export function kvShares(
  config: DecoderConfig,
  maxBytes: number,
  lengths: readonly number[],
  promptTokens: number,
): KvShares | undefined {
  const prompt = slotCapacity(promptTokens);
  const runningTokens = Math.floor(maxBytes / roomBytesPerToken(config)) - prompt;
  return slotTokens(lengths) <= runningTokens ? { runningTokens, promptTokens: prompt } : undefined;
}
