/** Adapters on disk: folders in PEFT's format. */
import path from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { moduleTensorSpecs } from '../model/weights.js';
import type { AdapterReference } from '../types.js';
import { CONFIG_FILE, contentHash, WEIGHTS_FILE } from './contentHash.js';
import { readBounded, writeFolder } from './folders.js';
import { parseMatrices, serializeMatrices, type LoraAdapter } from './loraAdapter.js';
import { loraModules } from './loraModules.js';
import { parsePeftConfig, serializePeftConfig } from './peftConfig.js';

const MAX_CONFIG_BYTES = 2 ** 20;
/** Room for the names, types and offsets in front of the tensors. */
const MAX_WEIGHTS_HEADER_BYTES = 2 ** 24;

/**
 * @param config the model that the adapter must fit.
 * @throws EngineError `adapter_invalid` when a file is missing, damaged or does not fit, naming the field,
 *   or when the content is not the one that the reference promises.
 */
export async function readAdapter(reference: AdapterReference, config: DecoderConfig): Promise<LoraAdapter> {
  const configBytes = await readBounded(path.join(reference.folder, CONFIG_FILE), MAX_CONFIG_BYTES);
  const lora = parsePeftConfig(configBytes);
  const specs = moduleTensorSpecs(config, loraModules(config, lora));
  const tensorBytes = specs.reduce((sum, { shape: [rows, width] }) => sum + 4 * rows * width, 0);
  const limit = tensorBytes + MAX_WEIGHTS_HEADER_BYTES;
  const weightBytes = await readBounded(path.join(reference.folder, WEIGHTS_FILE), limit);
  const hash = contentHash({ config: configBytes, weights: weightBytes });
  if (hash !== reference.contentHash) {
    throw new EngineError('adapter_invalid', `The adapter's contentHash is ${hash}, not ${reference.contentHash}.`);
  }
  return { ...lora, matrices: parseMatrices(weightBytes, config, lora) };
}

/**
 * Writes a new folder, see `writeFolder`.
 * @param baseModel the model's name for `adapter_config.json`.
 */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  baseModel: string | null,
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  const files = { config: serializePeftConfig(adapter, baseModel), weights: serializeMatrices(adapter) };
  await writeFolder(folder, { [CONFIG_FILE]: files.config, [WEIGHTS_FILE]: files.weights });
  const sizeBytes = files.config.byteLength + files.weights.byteLength;
  return { folder, contentHash: contentHash(files), sizeBytes };
}
