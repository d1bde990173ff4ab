/** Adapters on disk: folders in PEFT's format. */
import path from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { machineMemory } from '../support/machineMemory.js';
import { abbreviate } from '../support/abbreviate.js';
import { moduleBytes, type LoraModule } from '../model/weights.js';
import type { AdapterPrecision, AdapterReference } from '../types.js';
import { adapterConfigFile, contentHash, isAdapterIntact, adapterWeightsFile } from './contentHash.js';
import { readBounded, writeFolder } from '../support/folders.js';
import { parseMatrices, serializeMatrices, type LoraAdapter } from './loraAdapter.js';
import { loraModules } from './loraModules.js';
import { maxConfigBytes, parsePeftConfig, serializePeftConfig } from './peftConfig.js';

/** Enough for the header, which holds the names, types and offsets of the tensors. */
const maxWeightsHeaderBytes = 2 ** 24;

export interface ReadAdapterOptions {
  /**
   * Bytes that the caller makes of these modules' matrices while the matrices are in memory. By default a copy of them.
   */
  readonly preparedBytes?: (modules: readonly LoraModule[]) => number;
  /** Memory available, in bytes. By default the machine's. */
  readonly memoryBytes?: number;
}

/**
 * @param config the model that the adapter must fit.
 * @throws EngineError `adapter_damaged` when a file is missing or unreadable, or when its content does not match the
 *   reference; `adapter_invalid`, naming the field, when the promised content does not fit; `memory_exceeded` before
 *   the matrices are read.
 */
export async function readAdapter(
  reference: AdapterReference,
  config: DecoderConfig,
  options: ReadAdapterOptions = {},
): Promise<LoraAdapter> {
  try {
    return await readFitting(reference, config, options);
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== 'adapter_invalid') throw error;
    // A damaged file may also be one that does not fit.
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
  // The whole file is in memory. So are copies of its matrices if their type is not float32 or they are not aligned.
  const needed = 2 * matrixBytes + (preparedBytes?.(modules) ?? matrixBytes);
  if (needed > memoryBytes) {
    const message = `${weightsFile}: reading the adapter takes up to ${needed} bytes of memory, and there are ${memoryBytes}`;
    throw new EngineError('memory_exceeded', message);
  }
  const weightBytes = await readBounded(weightsFile, matrixBytes + maxWeightsHeaderBytes);
  const hash = contentHash({ config: configBytes, weights: weightBytes });
  if (hash !== reference.contentHash) {
    const message = `the adapter's contentHash is ${hash}, but the reference promises ${abbreviate(reference.contentHash)}`;
    throw new EngineError('adapter_damaged', `${reference.folder}: ${message}`);
  }
  return { ...lora, matrices: parseMatrices(weightBytes, config, lora) };
}

/**
 * Writes a new folder, see `writeFolder`.
 * @param baseModel the checkpoint's `contentHash`, for `adapter_config.json`.
 * @param metadata texts for the header of the matrices' file.
 */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  baseModel: string | null,
  precision: AdapterPrecision = 'F32',
  metadata: Readonly<Record<string, string>> = {},
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  const files = {
    config: serializePeftConfig(adapter, baseModel),
    weights: serializeMatrices(adapter, precision, metadata),
  };
  await writeFolder(folder, { [adapterConfigFile]: files.config, [adapterWeightsFile]: files.weights });
  const sizeBytes = files.config.byteLength + files.weights.byteLength;
  return { folder, contentHash: contentHash(files), sizeBytes };
}
