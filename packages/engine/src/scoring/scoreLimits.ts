/** Bounds on one run of scoring. */
import { activationsPerToken } from '../model/activations.js';
import { machineMemory } from '../support/machineMemory.js';
import type { DecoderConfig } from '../model/config.js';

export interface ScoreLimits {
  /**
   * Most tokens of a run, padding included. Beyond a few thousand a larger matrix is no faster and only takes memory.
   */
  readonly maxRunTokens: number;
  /** Most numbers in one matrix `[positions, vocabulary]`. A run holds about three of these. */
  readonly maxRunLogits: number;
  /** Most bytes of a run by `scoreBytes`. A single sequence that takes more is refused. */
  readonly maxRunBytes: number;
}

/** A quarter of the machine's memory, or what a small machine can be expected to spare. */
const defaultMaxRunBytes = Math.max(4 * 2 ** 30, machineMemory() / 4);

export const defaultScoreLimits: ScoreLimits = {
  maxRunTokens: 2048,
  maxRunLogits: 2 ** 25,
  maxRunBytes: defaultMaxRunBytes,
};

/** The number of attention matrices of a layer that are in memory together. */
const attentionMatrices = 4;

/** Estimates the bytes that a run takes besides the weights: one layer at a time, and the logits at its positions. */
export function scoreBytes(config: DecoderConfig, rows: number, length: number, positionCount: number): number {
  // The mask is as large as the weights of one head.
  const attention = attentionMatrices * (config.heads + 1) * length;
  const layer = rows * length * (activationsPerToken(config) + attention);
  return (layer + 3 * positionCount * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}
