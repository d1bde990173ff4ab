/** An adapter in memory, and its tensors in PEFT's naming. */
import { readHeaderFrom, readTensorFrom, serializeSafetensors, type FloatTensor } from '../checkpoint/safetensors.js';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { allFinite } from '../finite.js';
import { loraTensorSpecs } from '../model/weights.js';
import { WEIGHTS_FILE } from './contentHash.js';
import type { LoraHyperparameters } from './peftConfig.js';

export interface LoraAdapter extends LoraHyperparameters {
  /** By `loraName`: A `[rank, in]` and B `[out, rank]` of every projection, in the order of `loraTensorSpecs`. */
  readonly matrices: ReadonlyMap<string, FloatTensor>;
}

/** Generation and scoring take B multiplied by alpha / rank, so that adapters of unlike scale share a batch. */
export function scaledMatrices(adapter: LoraAdapter): ReadonlyMap<string, FloatTensor> {
  const scale = adapter.alpha / adapter.rank;
  const scaled = new Map<string, FloatTensor>();
  for (const [name, { shape, data }] of adapter.matrices) {
    scaled.set(name, { shape, data: name.endsWith('.lora_B') && scale !== 1 ? multiplied(data, scale) : data });
  }
  return scaled;
}

function multiplied(data: Float32Array, factor: number): Float32Array {
  const product = new Float32Array(data.length);
  for (let index = 0; index < data.length; index += 1) product[index] = (data[index] ?? 0) * factor;
  return product;
}

/** The content of `adapter_model.safetensors`. */
export function serializeMatrices(adapter: LoraAdapter): Buffer {
  const tensors = [...adapter.matrices].map(([name, tensor]) => [peftKey(name), tensor] as const);
  return serializeSafetensors(tensors, { format: 'pt' });
}

/**
 * The matrices of a model of this configuration out of `adapter_model.safetensors`.
 * @throws EngineError `adapter_invalid` naming the key that is missing, unknown, misshapen or not finite.
 */
export function parseMatrices(bytes: Uint8Array, config: DecoderConfig, rank: number): LoraAdapter['matrices'] {
  const entries = new Map(
    readHeaderFrom(bytes, { code: 'adapter_invalid', file: WEIGHTS_FILE }).map((entry) => [entry.name, entry]),
  );
  const matrices = new Map<string, FloatTensor>();
  for (const { name, shape } of loraTensorSpecs(config, rank)) {
    const key = peftKey(name);
    const entry = entries.get(key);
    if (entry === undefined) throw refused(`${key} is missing`);
    if (entry.shape.join() !== shape.join()) {
      throw refused(`${key} has shape [${entry.shape.join()}], and the model asks for [${shape.join()}]`);
    }
    const data = readTensorFrom(bytes, entry);
    if (!allFinite(data)) throw refused(`${key} holds a value that is not finite`);
    matrices.set(name, { shape, data });
    entries.delete(key);
  }
  for (const key of entries.keys()) throw refused(`${key} is not a matrix of this model`);
  return matrices;
}

/** `base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight` */
function peftKey(name: string): string {
  return `base_model.model.${name}.weight`;
}

function refused(reason: string): EngineError {
  return new EngineError('adapter_invalid', `${WEIGHTS_FILE}: ${reason}.`);
}
