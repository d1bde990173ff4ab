/** Adapters on disk: a folder in PEFT's format, written whole or not at all. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { EngineError } from '../engine.js';
import type { DecoderConfig } from '../model/config.js';
import { moduleTensorSpecs } from '../model/weights.js';
import type { AdapterReference } from '../types.js';
import { CONFIG_FILE, contentHash, WEIGHTS_FILE } from './contentHash.js';
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
 * Writes a new folder: under a temporary name beside it, synced, then renamed. A crash leaves either the
 * whole adapter or a folder named `<folder>.partial-…`.
 * @param baseModel the model's name for `adapter_config.json`.
 */
export async function writeAdapter(
  folder: string,
  adapter: LoraAdapter,
  baseModel: string | null,
): Promise<AdapterReference & { readonly sizeBytes: number }> {
  const files = { config: serializePeftConfig(adapter, baseModel), weights: serializeMatrices(adapter) };
  const partial = `${folder}.partial-${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(path.dirname(folder), { recursive: true });
    await mkdir(partial);
    await writeSynced(path.join(partial, CONFIG_FILE), files.config);
    await writeSynced(path.join(partial, WEIGHTS_FILE), files.weights);
    await syncFolder(partial);
    await rename(partial, folder);
    await syncFolder(path.dirname(folder));
  } catch (cause) {
    await rm(partial, { recursive: true, force: true });
    throw new EngineError('internal', `The adapter could not be written to ${folder}.`, { cause });
  }
  const sizeBytes = files.config.byteLength + files.weights.byteLength;
  return { folder, contentHash: contentHash(files), sizeBytes };
}

async function readBounded(file: string, maxBytes: number): Promise<Uint8Array> {
  try {
    // Without O_NONBLOCK, opening a pipe in place of the file would wait for ever.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new EngineError('adapter_invalid', `${file} is not a file.`);
      if (stats.size > maxBytes) {
        throw new EngineError('adapter_invalid', `${file} has ${stats.size} bytes; at most ${maxBytes} would fit.`);
      }
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError('adapter_invalid', `${file} cannot be read.`, { cause });
  }
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
