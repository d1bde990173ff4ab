/** What a pass over whole sequences computes, by which its memory is estimated. */
import type { DecoderConfig } from './config.js';

/** Numbers that one layer computes for a token, but for its attention weights. */
export function activationsPerToken(config: DecoderConfig): number {
  const { hiddenSize, ffnSize, heads, kvHeads, headDim } = config;
  const queryWidth = heads * headDim;
  const keyWidth = kvHeads * headDim;
  // Both residuals and both norms; rotated queries and keys, values and what attention mixed of them; gate, its
  // sigmoid, up and their product.
  const norms = config.qkNorm ? queryWidth + keyWidth : 0;
  return 4 * hiddenSize + 2 * queryWidth + 2 * keyWidth + norms + 4 * ffnSize;
}
