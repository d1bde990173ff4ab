/** An estimate of the memory that a training step takes beside the weights. */
import type { DecoderConfig } from '../model/config.js';
import type { TrainingRun } from './batch.js';

/** Unless another bound is given: what a machine that holds the model can be expected to have free. */
export const DEFAULT_MAX_ACTIVATION_BYTES = 4 * 2 ** 30;

/**
 * Bytes of what the forward pass of the whole step keeps for the backward pass: per token and layer what each rule of
 * `autodiff/operations.ts` refers to, and per target the head's matrices.
 */
export function activationBytes(config: DecoderConfig, run: Pick<TrainingRun, 'rows' | 'length' | 'targets'>): number {
  const { hiddenSize, ffnSize, heads, kvHeads, headDim } = config;
  const queryWidth = heads * headDim;
  const keyWidth = kvHeads * headDim;
  // Both residuals and both norms; rotated queries and keys, values and what attention mixed of them; gate, its
  // sigmoid and silu, up and their product; the attention weights.
  const norms = config.qkNorm ? queryWidth + keyWidth : 0;
  const perToken = 4 * hiddenSize + 2 * queryWidth + 2 * keyWidth + norms + 5 * ffnSize + heads * run.length;
  const layers = run.rows * run.length * perToken * config.layers;
  return (layers + 4 * run.targets * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}
