/** An adapter as its files hold it, and the names of its tensors in PEFT. */
import {
  readHeaderFrom,
  readTensorFrom,
  serializeSafetensors,
  type FloatTensor,
  type TensorEntry,
} from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { allFinite } from '../support/finite.js';
import { moduleTensorSpecs } from '../model/weights.js';
import type { AdapterPrecision } from '../types.js';
import { adapterConfigFile, adapterWeightsFile } from './contentHash.js';
import { loraModules, type LoraHyperparameters } from './loraModules.js';

export interface LoraAdapter extends LoraHyperparameters {
  /** By `loraName`: A `[rank, in]` and B `[out, rank]` of every module, in the order of `moduleTensorSpecs`. */
  readonly matrices: ReadonlyMap<string, FloatTensor>;
}

/**
 * The content of `adapter_model.safetensors`.
 * @throws EngineError `internal`, naming the key, when a value is too large for F16.
 */
export function serializeMatrices(
  adapter: LoraAdapter,
  precision: AdapterPrecision = 'F32',
  metadata: Readonly<Record<string, string>> = {},
): Buffer {
  const tensors = [...adapter.matrices].map(([name, tensor]) => [peftKey(name), tensor] as const);
  const tooGreat = precision === 'F16' ? tensors.find(([, { data }]) => data.some(isBeyondHalf)) : undefined;
  if (tooGreat !== undefined) {
    throw new EngineError(
      'internal',
      `${adapterWeightsFile}: ${tooGreat[0]} holds a value beyond 65504, the most in F16`,
    );
  }
  return serializeSafetensors(tensors, { format: 'pt', ...metadata }, precision);
}

/**
 * Parses `adapter_model.safetensors` into the matrices of an adapter for this model.
 * @throws EngineError `adapter_invalid` naming the key that is missing, unknown, misshapen or not finite.
 */
export function parseMatrices(
  bytes: Uint8Array,
  config: DecoderConfig,
  lora: LoraHyperparameters,
): LoraAdapter['matrices'] {
  const entries = adapterEntries(bytes);
  const matrices = takeMatrices(bytes, entries, config, lora);
  for (const key of entries.keys()) throw refused(`${key} is not a matrix that ${adapterConfigFile} asks for`);
  return matrices;
}

/** @throws EngineError `adapter_invalid` */
export function adapterEntries(bytes: Uint8Array): Map<string, TensorEntry> {
  const entries = readHeaderFrom(bytes, { code: 'adapter_invalid', file: adapterWeightsFile });
  return new Map(entries.map((entry) => [entry.name, entry]));
}

/**
 * Takes one tensor for each matrix of an adapter out of `entries`.
 * @param keyOf the tensor's name, given PEFT's name of the matrix.
 * @throws EngineError `adapter_invalid` naming the key that is missing, misshapen or not finite.
 */
export function takeMatrices(
  bytes: Uint8Array,
  entries: Map<string, TensorEntry>,
  config: DecoderConfig,
  lora: LoraHyperparameters,
  keyOf: (key: string) => string = (key) => key,
): ReadonlyMap<string, FloatTensor> {
  const matrices = new Map<string, FloatTensor>();
  for (const { name, shape } of moduleTensorSpecs(config, loraModules(config, lora))) {
    const key = keyOf(peftKey(name));
    const entry = entries.get(key);
    if (entry === undefined) throw refused(`${key} is missing`);
    if (entry.shape.join() !== shape.join()) {
      throw refused(`${key} has shape [${entry.shape.join(', ')}], but the model asks for [${shape.join(', ')}]`);
    }
    const data = readTensorFrom(bytes, entry);
    if (!allFinite(data)) throw refused(`${key} holds a value that is not finite`);
    matrices.set(name, { shape, data });
    entries.delete(key);
  }
  return matrices;
}

/** The largest F16 number is 65,504. Larger numbers are rounded to it or to infinity. */
function isBeyondHalf(value: number): boolean {
  return Math.abs(value) > 65_504;
}

/** `base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight` */
export function peftKey(name: string): string {
  return `base_model.model.${name}.weight`;
}

function refused(reason: string): EngineError {
  return new EngineError('adapter_invalid', `${adapterWeightsFile}: ${reason}`);
}
