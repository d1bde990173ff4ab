/** Adapters on disk: folders in PEFT's format. */
import path from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { machineMemory } from '../support/machineMemory.js';
import { moduleBytes, type LoraModule } from '../model/weights.js';
import type { AdapterPrecision, AdapterReference } from '../types.js';
import { adapterConfigFile, contentHash, isAdapterIntact, adapterWeightsFile } from './contentHash.js';
import { readBounded, writeFolder } from '../support/folders.js';
import { parseMatrices, serializeMatrices, type LoraAdapter } from './loraAdapter.js';
import { loraModules } from './loraModules.js';
import { maxConfigBytes, parsePeftConfig, serializePeftConfig } from './peftConfig.js';

/** Room for the names, types and offsets in front of the tensors. */
const maxWeightsHeaderBytes = 2 ** 24;

export interface ReadAdapterOptions {
  /** What the caller makes of the matrices of these modules while they are in memory, in bytes; by default a copy. */
  readonly preparedBytes?: (modules: readonly LoraModule[]) => number;
  /** What there is, in bytes; by default that of the machine. */
  readonly memoryBytes?: number;
}

/**
 * @param config the model that the adapter must fit.
 * @throws EngineError `adapter_damaged` when a file is missing or cannot be read off its disk, or when the content is
 *   not the one that the reference promises; `adapter_invalid` when the promised content does not fit, naming the
 *   field; `memory_exceeded` before the matrices are read.
 */
export async function readAdapter(
  reference: AdapterReference,
  config: DecoderConfig,
  room: ReadAdapterOptions = {},
): Promise<LoraAdapter> {
  try {
    return await readFitting(reference, config, room);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'adapter_invalid') throw error;
    // A damaged file is also one that does not fit.
    if (await isAdapterIntact(reference)) throw error;
    throw new EngineError('adapter_damaged', error.message, { cause: error });
  }
}

async function readFitting(
  reference: AdapterReference,
  config: DecoderConfig,
  { preparedBytes, memoryBytes = machineMemory() }: ReadAdapterOptions,
): Promise<LoraAdapter> {
  const configBytes = await readBounded(path.join(reference.folder, adapterConfigFile), maxConfigBytes);
  const lora = parsePeftConfig(configBytes);
  const modules = loraModules(config, lora);
  const matrixBytes = moduleBytes(config, modules);
  const weightsFile = path.join(reference.folder, adapterWeightsFile);
  // The whole file, and beside it its matrices, where they are of another type or do not lie as float32 must.
  const needed = 2 * matrixBytes + (preparedBytes?.(modules) ?? matrixBytes);
  if (needed > memoryBytes) {
    const message = `${weightsFile}: reading the adapter takes up to ${needed} bytes of memory, and there are ${memoryBytes}.`;
    throw new EngineError('memory_exceeded', message);
  }
  const weightBytes = await readBounded(weightsFile, matrixBytes + maxWeightsHeaderBytes);
  const hash = contentHash({ config: configBytes, weights: weightBytes });
  if (hash !== reference.contentHash) {
    throw new EngineError('adapter_damaged', `The adapter's contentHash is ${hash}, not ${reference.contentHash}.`);
  }
  return { ...lora, matrices: parseMatrices(weightBytes, config, lora) };
}

/**
 * Writes a new folder, see `writeFolder`.
 * @param baseModel the checkpoint's `contentHash`, for `adapter_config.json`.
 */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  baseModel: string | null,
  precision: AdapterPrecision = 'F32',
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  const files = { config: serializePeftConfig(adapter, baseModel), weights: serializeMatrices(adapter, precision) };
  await writeFolder(folder, { [adapterConfigFile]: files.config, [adapterWeightsFile]: files.weights });
  const sizeBytes = files.config.byteLength + files.weights.byteLength;
  return { folder, contentHash: contentHash(files), sizeBytes };
}
