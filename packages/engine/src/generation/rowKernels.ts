import { readFileSync } from 'node:fs';
import type { WeightFormat } from '../model/quantization.js';

/**
 * Whether a row of a batch is computed as it would be alone, to the last bit. With 4-bit weights ONNX Runtime computes
 * one row otherwise than several where the processor has no AVX-512 (seen on an AMD EPYC); where nothing is known of
 * the processor, rows are run alone, too.
 */
export function keepsRowsApart(format: WeightFormat = 'f32'): boolean {
  return format !== 'q4' || hasAvx512;
}

const hasAvx512 = process.platform === 'linux' && /\bavx512bw\b/u.test(cpuFlags());

function cpuFlags(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8');
  } catch {
    return '';
  }
}
