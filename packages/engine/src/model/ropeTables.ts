/**
 * Rotary position embeddings (Su et al. 2021, https://arxiv.org/abs/2104.09864): the angles by
 * which pairs of head dimensions turn at each position.
 */
import type { DecoderConfig, RopeScaling } from './config.js';
import type { WeightTensor } from './weights.js';

type YarnScaling = Extract<RopeScaling, { kind: 'yarn' }>;

/** Each `[contextLength, headDim / 2]`, or of the requested width. */
export interface RopeTables {
  readonly cos: WeightTensor;
  readonly sin: WeightTensor;
}

/** Radians per token for each of the `headDim / 2` pairs of dimensions, in decreasing order. */
export function inverseFrequencies(config: Pick<DecoderConfig, 'headDim' | 'ropeTheta' | 'ropeScaling'>): number[] {
  const half = config.headDim / 2;
  const frequencies = Array.from({ length: half }, (_, index) => config.ropeTheta ** (-index / half));
  const { ropeScaling: scaling } = config;
  if (scaling.kind === 'yarn') return yarnFrequencies(frequencies, config.ropeTheta, scaling);
  return frequencies.map((frequency) => scaleFrequency(frequency, scaling));
}

/** The factor of rotated queries and keys. The tables contain it already. */
export function rotationScale(scaling: RopeScaling): number {
  return scaling.kind === 'yarn' ? scaling.attentionFactor : 1;
}

/**
 * Angles are rounded to float32 as in the reference implementation.
 * @param width of a table, at least `headDim / 2`. The rest is filled with zeros.
 */
export function ropeTables(config: DecoderConfig, width = config.headDim / 2): RopeTables {
  const frequencies = inverseFrequencies(config).map(Math.fround);
  const scale = rotationScale(config.ropeScaling);
  const shape = [config.contextLength, width];
  const cos = new Float32Array(config.contextLength * width);
  const sin = new Float32Array(config.contextLength * width);
  for (let position = 0; position < config.contextLength; position += 1) {
    for (const [index, frequency] of frequencies.entries()) {
      const angle = Math.fround(position * frequency);
      cos[position * width + index] = Math.cos(angle) * scale;
      sin[position * width + index] = Math.sin(angle) * scale;
    }
  }
  return { cos: { shape, data: cos }, sin: { shape, data: sin } };
}

function scaleFrequency(frequency: number, scaling: Exclude<RopeScaling, YarnScaling>): number {
  switch (scaling.kind) {
    case 'default':
    case 'dynamic':
      return frequency;
    case 'linear':
      return frequency / scaling.factor;
    case 'llama3': {
      // Llama 3.1: slow turns are stretched, fast ones kept, and those between interpolated.
      const turns = (scaling.originalContextLength * frequency) / (2 * Math.PI);
      const { lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
      const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)));
      return frequency * (kept + (1 - kept) / scaling.factor);
    }
  }
}

/**
 * YaRN (Peng et al. 2023, https://arxiv.org/abs/2309.00071, section 3.2): keeps dimensions that turn often, stretches
 * those that turn seldom, with a linear ramp between.
 */
function yarnFrequencies(frequencies: readonly number[], theta: number, scaling: YarnScaling): number[] {
  const width = 2 * frequencies.length;
  const dimensionOf = (turns: number) =>
    (width * Math.log(scaling.originalContextLength / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [fast, slow] = [dimensionOf(scaling.betaFast), dimensionOf(scaling.betaSlow)];
  const low = Math.max(scaling.truncate ? Math.floor(fast) : fast, 0);
  const bound = Math.min(scaling.truncate ? Math.ceil(slow) : slow, width - 1);
  const high = low === bound ? bound + 0.001 : bound;
  return frequencies.map((frequency, index) => {
    const stretched = Math.min(1, Math.max(0, (index - low) / (high - low)));
    return (frequency / scaling.factor) * stretched + frequency * (1 - stretched);
  });
}
