/** What one run of scoring may take. */
import { layerNumbers } from '../model/activations.js';
import { machineMemory } from '../machineMemory.js';
import type { DecoderConfig } from '../model/config.js';

export interface ScoreLimits {
  /**
   * Tokens of one run including padding; beyond a few thousand a larger matrix gains no speed, it only takes memory.
   */
  readonly runTokens: number;
  /** Numbers in one matrix `[places, vocabulary]`, of which a run holds about three. */
  readonly runLogits: number;
  /** Bytes of a run by `scoreBytes`; a sequence that takes more by itself is refused. */
  readonly runBytes: number;
}

/** A quarter of the machine, or what a small one can be expected to spare. */
const DEFAULT_RUN_BYTES = Math.max(4 * 2 ** 30, machineMemory() / 4);

export const DEFAULT_SCORE_LIMITS: ScoreLimits = { runTokens: 2048, runLogits: 2 ** 25, runBytes: DEFAULT_RUN_BYTES };

/** Attention matrices of a layer that are in memory together. */
const MATRICES = 4;

/** An estimate of the bytes that a run takes beside the weights: one layer at a time, and the logits at its places. */
export function scoreBytes(config: DecoderConfig, rows: number, length: number, places: number): number {
  // The mask is as large as the weights of one head.
  const attention = MATRICES * (config.heads + 1) * length;
  const layer = rows * length * (layerNumbers(config) + attention);
  return (layer + 3 * places * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}
