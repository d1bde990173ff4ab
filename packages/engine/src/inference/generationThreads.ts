import type { DecoderConfig } from '../model/config.js';
import { projectionWeightCount } from '../model/weights.js';

/**
 * Each product of a step wakes the other threads. With small matrices that takes longer than it saves. At width 256 (a
 * million numbers a layer) one thread was at least as fast as two, in float32 and 8 bits, for one row and for eight,
 * and for reading prompts. At width 512 (three million) two were faster for eight rows. The figures come from
 * `npm run bench -- engine`.
 */
const minLayerWeights = 2e6;

/** Threads inside one operator of generation: all that are allowed, or one for a small model. */
export function generationThreads(config: DecoderConfig, threads: number): number {
  return projectionWeightCount(config) < minLayerWeights ? 1 : threads;
}
