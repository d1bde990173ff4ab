/** An estimate of the memory that a training step takes beside the weights. */
import type { DecoderConfig } from '../model/config.js';
import { decoderWeightShapes } from '../model/weights.js';
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
  // sigmoid, up and their product; the attention weights.
  const norms = config.qkNorm ? queryWidth + keyWidth : 0;
  const perToken = 4 * hiddenSize + 2 * queryWidth + 2 * keyWidth + norms + 4 * ffnSize + heads * run.length;
  const layers = run.rows * run.length * perToken * config.layers;
  return (layers + 4 * run.targets * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * Whether a step may keep a second copy of the weights, see `WeightInputs`: where that takes a 64th of the memory
 * allowed for its activations at most. While the copy is arranged there is a third one.
 */
export function roomForConstants(config: DecoderConfig, maxActivationBytes: number): boolean {
  const sizes = [...decoderWeightShapes(config).values()].map((shape) => shape.reduce((a, b) => a * b));
  const bytes = sizes.reduce((sum, size) => sum + size, 0) * Float32Array.BYTES_PER_ELEMENT;
  return bytes <= maxActivationBytes / 64;
}
