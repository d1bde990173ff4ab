/**
 * Rotary position embeddings (Su et al. 2021, https://arxiv.org/abs/2104.09864): the angles by
 * which pairs of head dimensions turn at each position.
 */
import type { DecoderConfig, RopeScaling } from './config.js';
import type { WeightTensor } from './weights.js';

export interface RopeTables {
  /** `[contextLength, headDim / 2]` */
  readonly cos: WeightTensor;
  /** `[contextLength, headDim / 2]` */
  readonly sin: WeightTensor;
}

/** Radians per token for each pair of dimensions, `headDim / 2` of them, in decreasing order. */
export function inverseFrequencies(config: Pick<DecoderConfig, 'headDim' | 'ropeTheta' | 'ropeScaling'>): number[] {
  const half = config.headDim / 2;
  return Array.from({ length: half }, (_, index) =>
    scaleFrequency(config.ropeTheta ** (-index / half), config.ropeScaling),
  );
}

/** Angles are rounded to float32 as the reference implementation rounds them. */
export function ropeTables(config: DecoderConfig): RopeTables {
  const frequencies = inverseFrequencies(config).map(Math.fround);
  const half = frequencies.length;
  const shape = [config.contextLength, half];
  const cos = new Float32Array(config.contextLength * half);
  const sin = new Float32Array(config.contextLength * half);
  for (let position = 0; position < config.contextLength; position += 1) {
    for (const [index, frequency] of frequencies.entries()) {
      const angle = Math.fround(position * frequency);
      cos[position * half + index] = Math.cos(angle);
      sin[position * half + index] = Math.sin(angle);
    }
  }
  return { cos: { shape, data: cos }, sin: { shape, data: sin } };
}

function scaleFrequency(frequency: number, scaling: RopeScaling): number {
  switch (scaling.kind) {
    case 'default':
      return frequency;
    case 'linear':
      return frequency / scaling.factor;
    case 'llama3': {
      // Llama 3.1: slow turns are stretched, fast ones kept, and those between are interpolated.
      const turns = (scaling.originalContextLength * frequency) / (2 * Math.PI);
      const { lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
      const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
      return frequency * (kept + (1 - kept) / scaling.factor);
    }
  }
}
