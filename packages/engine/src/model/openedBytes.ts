import type { DecoderConfig } from './config.js';
import type { WeightFormat } from './quantization.js';
import { quantizedBytes } from './quantizedWeights.js';
import { decoderWeightShapes, EMBEDDING, sizeOf, weightBytes } from './weights.js';

/**
 * The least memory that the weights take while a model is open, in bytes. Of float32 it is all of them; otherwise the
 * embedding, which is looked up, and the matrices of generation, which lie in memory besides where no file keeps them.
 * @param format of generation, `null` where there is none; then the rest is read when a session is opened, see
 * `SharedWeights.use`.
 */
export function openedBytes(config: DecoderConfig, format: WeightFormat | null, inFile: boolean): number {
  if (format === 'f32') return weightBytes(config);
  const table = sizeOf(decoderWeightShapes(config).get(EMBEDDING) ?? []) * Float32Array.BYTES_PER_ELEMENT;
  return format === null ? table : table + quantizedBytes(config, format) * (inFile ? 1 : 2);
}
