/** Rotary scaling of a GGUF file, as `rope_scaling` of `config.json` writes it. */
import type { JsonFields, JsonObject } from '../checkpoint/jsonFields.js';
import { EngineError } from '../engine.js';
import { ropeFactors } from './tensorNames.js';

export interface RopeSource {
  readonly metadata: JsonFields;
  /** The key of an architecture's setting, such as `llama.rope.scaling.type`. */
  readonly key: (name: string) => string;
  readonly theta: number;
  readonly headDim: number;
  /** The divisors of the frequencies in `rope_freqs.weight`, if it exists. */
  readonly factors: Float32Array | null;
}

/** @throws EngineError `checkpoint_invalid` naming the field or the tensor. */
export function readGgufRopeScaling(source: RopeSource): JsonObject | null {
  const { metadata, key, factors } = source;
  // llama.cpp wrote it until 2023.
  const earlier = metadata.number(key('rope.scale_linear'), 1, { min: 1 });
  const kind = metadata.string(key('rope.scaling.type'), earlier === 1 ? 'none' : 'linear');
  if (factors !== null) {
    if (kind !== 'none') throw metadata.refusal(key('rope.scaling.type'), `"none" beside ${ropeFactors}`);
    return llama3Scaling(source, factors);
  }
  switch (kind) {
    case 'none':
      return null;
    case 'linear':
      return { rope_type: 'linear', factor: metadata.number(key('rope.scaling.factor'), earlier, { min: 1 }) };
    case 'yarn':
      return yarnScaling(source);
    default:
      throw metadata.refusal(key('rope.scaling.type'), 'one of none, linear, yarn');
  }
}

function yarnScaling({ metadata, key }: RopeSource): JsonObject {
  // llama.cpp multiplies these into its own temperature. Nothing says what Hugging Face's would be then.
  for (const name of ['attn_factor', 'yarn_attn_factor', 'yarn_log_multiplier', 'yarn_ext_factor'].map(
    (each) => `rope.scaling.${each}`,
  )) {
    if (metadata.has(key(name))) throw metadata.refusal(key(name), 'absent');
  }
  const optional = (name: string, field: string): JsonObject =>
    metadata.has(key(name)) ? { [field]: metadata.number(key(name), undefined, { min: 0 }) } : {};
  return {
    rope_type: 'yarn',
    factor: metadata.number(key('rope.scaling.factor'), undefined, { min: 1 }),
    original_max_position_embeddings: metadata.integer(key('rope.scaling.original_context_length')),
    ...optional('rope.scaling.yarn_beta_fast', 'beta_fast'),
    ...optional('rope.scaling.yarn_beta_slow', 'beta_slow'),
  };
}

/** The values of all Llamas from 3.1 on. */
const [lowFrequencyFactor, highFrequencyFactor] = [1, 4];
/** The factors are float32, and the converter computes some steps in float32, too. */
const tolerance = 1e-4;

/**
 * The file has the result of the scaling but not its settings. So this looks for settings that give the same factors.
 * Without them long texts would be read as if the model had never been trained on any.
 */
function llama3Scaling({ metadata, theta, headDim }: RopeSource, factors: Float32Array): JsonObject | null {
  if (factors.length !== headDim / 2) {
    throw refusal(metadata, `must have ${headDim / 2} numbers, but has ${factors.length}`);
  }
  if (factors.every((each) => each === 1)) return null;
  const factor = factors.reduce((most, each) => Math.max(most, each), 0);
  for (let original = 512; original <= 2 ** 20; original *= 2) {
    const fits = factors.every((each, index) => {
      const expected = llama3Factor(theta ** ((2 * index) / headDim) * 2 * Math.PI, factor, original);
      return Math.abs(each - expected) <= tolerance * expected;
    });
    if (!fits) continue;
    const factorsOf = { low_freq_factor: lowFrequencyFactor, high_freq_factor: highFrequencyFactor };
    return { rope_type: 'llama3', factor, ...factorsOf, original_max_position_embeddings: original };
  }
  throw refusal(
    metadata,
    `must be those of a llama3 scaling with the factors ${lowFrequencyFactor} and ${highFrequencyFactor}, but are others`,
  );
}

/** The same as `_compute_llama3_parameters` of `transformers`, for one wavelength in tokens. */
function llama3Factor(wavelength: number, factor: number, original: number): number {
  if (wavelength < original / highFrequencyFactor) return 1;
  if (wavelength > original / lowFrequencyFactor) return factor;
  const smooth = (original / wavelength - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  return 1 / ((1 - smooth) / factor + smooth);
}

function refusal(metadata: JsonFields, message: string): EngineError {
  return new EngineError('checkpoint_invalid', `${metadata.source}: the numbers of ${ropeFactors} ${message}`);
}
