import type { DecoderConfig } from '../model/config.js';
import { processorHas } from '../support/processor.js';
import { defaultActivationBytes, fitsWeightCopies } from './activations.js';

/**
 * Whether training computes products with float32 matrices in 8-bit integers. A processor with tiles of integers
 * (Intel's AMX) computes these ten times as fast. Where the matrices are small enough to be constants of the graph,
 * what is done besides the products would take the time that is saved.
 */
export function trainsInIntegers(config: DecoderConfig): boolean {
  return processorHas('amx_int8') && !fitsWeightCopies(config, defaultActivationBytes('f32'));
}
