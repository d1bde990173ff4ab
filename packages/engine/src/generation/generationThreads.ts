import type { DecoderConfig } from '../model/config.js';
import { PROJECTIONS, projectionShape } from '../model/weights.js';

/**
 * Each product of a step wakes the other threads, which takes longer than what they save where the matrices are small.
 * At width 256 (a million numbers a layer) one thread was as fast as two or faster, in float32 and in 8 bits, for one
 * row and for eight, and read prompts as fast; at width 512 (three million) two were faster for eight rows. The figures
 * are those of `npm run bench -- engine`.
 */
const MIN_LAYER_NUMBERS = 2e6;

/** Threads inside one operator of generation: all that may be used, or one for a small model. */
export function generationThreads(config: DecoderConfig, threads: number): number {
  const numbers = PROJECTIONS.reduce((sum, projection) => {
    const [out, width] = projectionShape(config, projection);
    return sum + out * width;
  }, 0);
  return numbers < MIN_LAYER_NUMBERS ? 1 : threads;
}
