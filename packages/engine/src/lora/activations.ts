/** Estimates of the memory that a training step takes beside the weights. */
import { layerNumbers } from '../model/activations.js';
import type { DecoderConfig } from '../model/config.js';
import type { WeightFormat } from '../model/quantization.js';
import { weightCount } from '../model/weights.js';
import type { TrainingRun } from './runLayout.js';

/**
 * Unless another bound is given: what a machine that holds the model can be expected to have free. Where that is not
 * much, weights are kept in blocks.
 */
export function defaultActivationBytes(format: WeightFormat): number {
  return (format === 'f32' ? 4 : 1) * 2 ** 30;
}

/**
 * What a step computed layer by layer may take, unless a whole step may take more: sequences that need it are refused.
 */
export const MAX_LAYERWISE_BYTES = 16 * 2 ** 30;

/** Attention matrices that come and go in a layer's backward pass beside the one that is kept. */
const PASSING_MATRICES = 5;
/** Graphs of a step computed layer by layer; each holds on to the memory of its largest run. */
const LAYERWISE_GRAPHS = 3;

type RunSize = Pick<TrainingRun, 'rows' | 'length' | 'targets'>;

/**
 * Bytes of what the forward pass of the whole step keeps for the backward pass: per token and layer what each rule of
 * `autodiff/operations.ts` refers to, and per target the head's matrices.
 */
export function activationBytes(config: DecoderConfig, run: RunSize): number {
  const perToken = layerNumbers(config) + config.heads * run.length;
  const layers = run.rows * run.length * perToken * config.layers;
  return (layers + 4 * run.targets * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * Bytes that a step takes layer by layer: the states between layers, and one layer's pass there and back in each graph.
 */
export function layerwiseBytes(config: DecoderConfig, run: RunSize): number {
  const tokens = run.rows * run.length;
  const states = (config.layers + 1) * tokens * config.hiddenSize;
  // The mask is as large as the weights of one head.
  const passing = PASSING_MATRICES * (config.heads + 1) * tokens * run.length;
  const layer = activationBytes({ ...config, layers: 1 }, run);
  return layer * LAYERWISE_GRAPHS + (states + passing * LAYERWISE_GRAPHS) * Float32Array.BYTES_PER_ELEMENT;
}

/** Bytes that a pass over a text takes which is only looked at: one layer's at a time. */
export function passingBytes(config: DecoderConfig, length: number): number {
  return activationBytes({ ...config, layers: 1 }, { rows: 1, length, targets: 0 });
}

/**
 * Whether a step may keep copies of the weights, the constants of its graphs, see `WeightInputs`: two of each, as they
 * are read in either order, and one or two more while a session is made. One of all weights takes a 64th of the memory
 * allowed for activations at most.
 */
export function roomForCopies(config: DecoderConfig, maxActivationBytes: number): boolean {
  return weightCount(config) * Float32Array.BYTES_PER_ELEMENT <= maxActivationBytes / 64;
}
