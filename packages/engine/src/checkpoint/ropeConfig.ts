import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../engine.js';
import type { DecoderConfig, RopeScaling } from '../model/config.js';
import { abbreviate } from '../support/abbreviate.js';
import { isJsonObject, type JsonFields } from './jsonFields.js';

type Rope = Pick<DecoderConfig, 'ropeTheta' | 'ropeScaling'>;

/**
 * Reads the rotary settings as `transformers` 5 understands them. It writes one object, `rope_parameters`. Earlier
 * versions wrote `rope_theta` and an optional `rope_scaling`, whose kind is called `type` or `rope_type`.
 */
export function readRope(fields: JsonFields, contextLength: number): Rope {
  const [current, earlier] = [fields.nested('rope_parameters'), fields.nested('rope_scaling')];
  const rope = readRopeOf(fields, current ?? earlier, contextLength);
  if (current === undefined || earlier === undefined) return rope;
  // Each version of `transformers` silently reads only one of them.
  if (!isDeepStrictEqual(rope, readRopeOf(fields, earlier, contextLength))) {
    throw fields.refusal(
      'rope_scaling',
      'absent beside rope_parameters, unless both say the same, rope_theta included',
    );
  }
  return rope;
}

function readRopeOf(fields: JsonFields, scaling: JsonFields | undefined, contextLength: number): Rope {
  const thetaHolder = scaling?.has('rope_theta') === true ? scaling : fields;
  const ropeTheta = thetaHolder.number('rope_theta', 10_000, { min: 1 });
  if (scaling === undefined) return { ropeTheta, ropeScaling: { kind: 'default' } };
  const ropeScaling = readRopeScaling(fields, scaling, contextLength);
  // YaRN divides by the logarithm.
  if (ropeScaling.kind === 'yarn' && ropeTheta === 1) throw thetaHolder.refusal('rope_theta', 'above 1');
  return { ropeTheta, ropeScaling };
}

function readRopeScaling(fields: JsonFields, scaling: JsonFields, contextLength: number): RopeScaling {
  if (scaling.has('partial_rotary_factor') && scaling.value('partial_rotary_factor') !== 1) {
    throw scaling.refusal('partial_rotary_factor', '1');
  }
  for (const [name, value] of Object.entries(scaling.raw)) {
    // Settings for each kind of layer. Read as settings of the whole model they would mean nothing.
    if (isJsonObject(value)) throw scaling.refusal(name, 'absent: one rotation for all layers is supported');
  }
  const name = scaling.has('rope_type') ? 'rope_type' : 'type';
  const kind = scaling.string(name, 'default');
  switch (kind) {
    case 'default':
      return { kind };
    case 'linear':
      return { kind, factor: readFactor(scaling) };
    case 'dynamic':
      return readDynamic(scaling, contextLength);
    case 'llama3':
      return readLlama3(scaling, originalContextLength(fields, scaling, contextLength));
    case 'yarn':
      return readYarn(scaling, originalContextLength(fields, scaling, contextLength), contextLength);
    default:
      throw new EngineError(
        'checkpoint_invalid',
        `${scaling.source}: ${name} must be one of default, linear, dynamic, llama3, yarn, but is ${abbreviate(kind)}`,
      );
  }
}

function readFactor(scaling: JsonFields, fallback?: number): number {
  return scaling.number('factor', fallback, { min: 1 });
}

/** `transformers` prefers the top-level field and falls back to the context length. */
function originalContextLength(fields: JsonFields, scaling: JsonFields, contextLength: number): number {
  const name = 'original_max_position_embeddings';
  return fields.has(name) ? fields.integer(name) : scaling.integer(name, contextLength);
}

/**
 * Beyond `max_position_embeddings` this scaling changes the frequencies with every further token. Cached keys would
 * keep their old frequencies, and the output would depend on how the sequence was cut into runs. So the model is served
 * only up to that length, where the scaling changes nothing.
 */
function readDynamic(scaling: JsonFields, contextLength: number): RopeScaling {
  const name = 'original_max_position_embeddings';
  if (scaling.has(name) && scaling.value(name) !== contextLength) {
    throw scaling.refusal(name, `max_position_embeddings (${contextLength}) or absent with dynamic scaling`);
  }
  return { kind: 'dynamic', factor: readFactor(scaling) };
}

function readLlama3(scaling: JsonFields, original: number): RopeScaling {
  const lowFrequencyFactor = scaling.number('low_freq_factor', undefined, { min: 0 });
  const highFrequencyFactor = scaling.number('high_freq_factor', undefined, { min: 0 });
  if (highFrequencyFactor <= lowFrequencyFactor) {
    throw scaling.refusal('high_freq_factor', `above low_freq_factor (${lowFrequencyFactor})`);
  }
  return {
    kind: 'llama3',
    factor: readFactor(scaling),
    lowFrequencyFactor,
    highFrequencyFactor,
    originalContextLength: original,
  };
}

function readYarn(scaling: JsonFields, original: number, contextLength: number): RopeScaling {
  const factor = readFactor(scaling, contextLength / original);
  // `transformers` treats 0 as absent in these four fields.
  const orDefault = (name: string, fallback: number) => scaling.number(name, fallback, { min: 0 }) || fallback;
  const [betaFast, betaSlow] = [orDefault('beta_fast', 32), orDefault('beta_slow', 1)];
  if (betaFast < betaSlow) throw scaling.refusal('beta_fast', `at least beta_slow (${betaSlow})`);
  const [mscale, mscaleAll] = [orDefault('mscale', 0), orDefault('mscale_all_dim', 0)];
  const inferred =
    mscale !== 0 && mscaleAll !== 0 ? yarnScale(factor, mscale) / yarnScale(factor, mscaleAll) : yarnScale(factor, 1);
  return {
    kind: 'yarn',
    factor,
    originalContextLength: original,
    betaFast,
    betaSlow,
    truncate: scaling.boolean('truncate', true),
    attentionFactor: scaling.number('attention_factor', inferred, { min: 0 }),
  };
}

/** YaRN's temperature for a stretch by `factor`. */
function yarnScale(factor: number, mscale: number): number {
  return factor <= 1 ? 1 : 0.1 * mscale * Math.log(factor) + 1;
}
