import type { DecoderConfig } from './config.js';
import type { WeightFormat } from './quantization.js';
import { quantizedBytes } from './quantizedWeights.js';
import { decoderWeightShapes, embeddingName, weightBytes } from './weights.js';
import { elementCount } from '../support/numbers.js';

/**
 * The least memory that the weights take while a model is open, in bytes. For float32 that is all weights. Otherwise it
 * is the embedding, which is looked up, and the matrices of generation, which are in memory a second time if no file
 * keeps them.
 * @param format the format of generation, or `null` without generation. The rest is read when a session is opened, see
 *   `SharedWeights.use`.
 */
export function residentBytes(config: DecoderConfig, format: WeightFormat | null, inFile: boolean): number {
  if (format === 'f32') return weightBytes(config);
  const table = elementCount(decoderWeightShapes(config).get(embeddingName) ?? []) * Float32Array.BYTES_PER_ELEMENT;
  return format === null ? table : table + quantizedBytes(config, format) * (inFile ? 1 : 2);
}
