/** The identity of an adapter: a hash over the names, lengths and bytes of its two files. */
import { createHash, type Hash } from 'node:crypto';
import path from 'node:path';
import { openRegularFile, readUpTo } from '../support/boundedFile.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';

export const adapterConfigFile = 'adapter_config.json';
export const adapterWeightsFile = 'adapter_model.safetensors';

/** All files of an adapter, in PEFT's format. */
export const adapterFiles = [adapterConfigFile, adapterWeightsFile] as const;

export interface AdapterFiles {
  readonly config: Uint8Array;
  readonly weights: Uint8Array;
}

/** `sha256:<hex>` over `<name>\n<length in bytes>\n<bytes>` of both files, the configuration first. */
export function contentHash(files: AdapterFiles): string {
  const hash = createHash('sha256');
  hash.update(`${adapterConfigFile}\n${files.config.byteLength}\n`).update(files.config);
  hash.update(`${adapterWeightsFile}\n${files.weights.byteLength}\n`).update(files.weights);
  return `sha256:${hash.digest('hex')}`;
}

const blockBytes = 2 ** 20;

/**
 * The identity of the adapter in a folder, whatever model it is for. Reads a block at a time. `null` when a file is
 * missing, is not a regular file, or cannot be read off its disk.
 * @throws EngineError `adapter_invalid` when a file cannot be read for another reason, such as its permissions.
 */
export async function hashAdapterFolder(folder: string): Promise<string | null> {
  const hash = createHash('sha256');
  for (const name of adapterFiles) {
    try {
      if (!(await addFile(hash, folder, name))) return null;
    } catch (error) {
      if (isDamage(error)) return null;
      throw error;
    }
  }
  return `sha256:${hash.digest('hex')}`;
}

/**
 * Whether an adapter's files are the ones that the reference promises. What an engine holds in memory does not matter.
 * @throws EngineError `adapter_invalid` as `hashAdapterFolder`.
 */
export async function isAdapterIntact({ folder, contentHash: promised }: AdapterReference): Promise<boolean> {
  return (await hashAdapterFolder(folder)) === promised;
}

/** Returns whether the file exists. */
async function addFile(hash: Hash, folder: string, name: string): Promise<boolean> {
  const file = path.join(folder, name);
  const opened = await openRegularFile(file, { code: 'adapter_invalid', file });
  if (opened === undefined) return false;
  const { handle, size } = opened;
  try {
    hash.update(`${name}\n${size}\n`);
    const buffer = new Uint8Array(Math.min(blockBytes, size));
    for (let at = 0; at < size; at += buffer.byteLength) {
      hash.update(await readUpTo(handle, at, Math.min(buffer.byteLength, size - at), buffer));
    }
  } finally {
    await handle.close();
  }
  return true;
}

/** Error codes of a name that leads to no file, and of a disk that cannot read what it holds. */
const damageCodes: ReadonlySet<unknown> = new Set(['ENOTDIR', 'ELOOP', 'EIO', 'EUCLEAN']);

/** An `EngineError` without a cause means that there is something other than a file. */
function isDamage(error: unknown): boolean {
  if (error instanceof EngineError) return error.cause === undefined || isDamage(error.cause);
  return error instanceof Error && 'code' in error && damageCodes.has(error.code);
}
