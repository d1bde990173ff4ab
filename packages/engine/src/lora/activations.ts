/** Estimates of the memory that a training step takes besides the weights. */
import { activationsPerToken } from '../model/activations.js';
import type { DecoderConfig } from '../model/config.js';
import { isQuantized, type MatrixFormat } from '../model/quantization.js';
import { weightCount } from '../model/weights.js';
import type { TrainingRun } from './runLayout.js';

/**
 * The default bound: what a machine that holds the model can be expected to have free. On a machine with little memory
 * the weights are kept in blocks.
 */
export function defaultActivationBytes(format: MatrixFormat): number {
  return (isQuantized(format) ? 1 : 4) * 2 ** 30;
}

/**
 * The bound on a step computed layer by layer, unless the bound on a whole step is larger. Sequences that need more are
 * refused.
 */
export const defaultMaxLayerwiseBytes = 16 * 2 ** 30;

/** Attention matrices that exist only for a while in a layer's backward pass, beside the one that is kept. */
const passingMatrices = 5;
/** Graphs of a step computed layer by layer. Each keeps the memory of its largest run. */
const layerwiseGraphs = 3;

type RunSize = Pick<TrainingRun, 'rows' | 'length' | 'targets'>;

/**
 * Bytes that the forward pass of a whole step keeps for the backward pass: for each token and layer what the rules of
 * `autodiff/operations.ts` refer to, and for each target the head's matrices.
 */
export function activationBytes(config: DecoderConfig, run: RunSize): number {
  const perToken = activationsPerToken(config) + config.heads * run.length;
  const layers = run.rows * run.length * perToken * config.layers;
  return (layers + 4 * run.targets * config.vocabularySize) * Float32Array.BYTES_PER_ELEMENT;
}

/**
 * Bytes of a step computed layer by layer: the states between layers, and one layer's forward and backward pass in each
 * graph.
 */
export function layerwiseBytes(config: DecoderConfig, run: RunSize): number {
  const tokens = run.rows * run.length;
  const states = (config.layers + 1) * tokens * config.hiddenSize;
  // The mask is as large as the weights of one head.
  const passing = passingMatrices * (config.heads + 1) * tokens * run.length;
  const layer = activationBytes({ ...config, layers: 1 }, run);
  return layer * layerwiseGraphs + (states + passing * layerwiseGraphs) * Float32Array.BYTES_PER_ELEMENT;
}

/** Bytes of a forward pass that is only observed, one layer at a time. */
export function passingBytes(config: DecoderConfig, length: number): number {
  return activationBytes({ ...config, layers: 1 }, { rows: 1, length, targets: 0 });
}

/**
 * Whether a step may keep copies of the weights as constants of its graphs, see `WeightInputs`. There are two of each,
 * one for either order of reading, and one or two more while a session is made. One copy of all weights may take a 64th
 * of the memory allowed for activations.
 */
export function fitsWeightCopies(config: DecoderConfig, maxActivationBytes: number): boolean {
  return weightCount(config) * Float32Array.BYTES_PER_ELEMENT <= maxActivationBytes / 64;
}
