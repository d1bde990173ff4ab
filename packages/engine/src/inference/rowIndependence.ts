import type { WeightFormat } from '../model/quantization.js';
import { processorHas } from '../support/processor.js';

/**
 * Whether a row of a batch is computed as it would be alone, to the last bit. With 4-bit weights and a processor
 * without AVX-512, ONNX Runtime computes a single row differently from several (seen on an AMD EPYC). If nothing is
 * known of the processor, rows run one by one, too.
 */
export function rowsAreIndependent(format: WeightFormat = 'f32'): boolean {
  return format !== 'q4' || hasAvx512;
}

const hasAvx512 = processorHas('avx512bw');
