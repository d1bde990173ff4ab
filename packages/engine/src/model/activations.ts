/** Counts the numbers that a pass over whole sequences computes, for memory estimates. */
import type { DecoderConfig } from './config.js';

/** The numbers that one layer computes for a token, without the attention weights. */
export function activationsPerToken(config: DecoderConfig): number {
  const { hiddenSize, ffnSize, heads, kvHeads, headDim } = config;
  const queryWidth = heads * headDim;
  const keyWidth = kvHeads * headDim;
  // Both residuals and both norms; rotated queries and keys, values, and the attention output; gate, its sigmoid, up
  // and their product.
  const norms = config.qkNorm ? queryWidth + keyWidth : 0;
  return 4 * hiddenSize + 2 * queryWidth + 2 * keyWidth + norms + 4 * ffnSize;
}
