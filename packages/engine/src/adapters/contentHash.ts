/** The identity of an adapter: a hash over the names, lengths and bytes of its two files. */
import { createHash, type Hash } from 'node:crypto';
import path from 'node:path';
import { openRegularFile, readUpTo } from '../support/boundedFile.js';
import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';

export const adapterConfigFile = 'adapter_config.json';
export const adapterWeightsFile = 'adapter_model.safetensors';

/** All of an adapter, in PEFT's format. */
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
 * The identity of the adapter in a folder, whatever model it is for; read a piece at a time. `null` where a file of it
 * is missing, is no file, or cannot be read off its disk.
 * @throws EngineError `adapter_invalid` when something else keeps a file from being read, such as its rights.
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
 * Whether the files of an adapter are those that the reference promises, whatever an engine has in memory of it.
 * @throws EngineError `adapter_invalid` as `hashAdapterFolder`.
 */
export async function isAdapterIntact({ folder, contentHash: promised }: AdapterReference): Promise<boolean> {
  return (await hashAdapterFolder(folder)) === promised;
}

/** Whether there is such a file. */
async function addFile(hash: Hash, folder: string, name: string): Promise<boolean> {
  const file = path.join(folder, name);
  const opened = await openRegularFile(file, { code: 'adapter_invalid', file });
  if (opened === undefined) return false;
  const { handle, size } = opened;
  try {
    hash.update(`${name}\n${size}\n`);
    const room = new Uint8Array(Math.min(blockBytes, size));
    for (let at = 0; at < size; at += room.byteLength) {
      hash.update(await readUpTo(handle, at, Math.min(room.byteLength, size - at), room));
    }
  } finally {
    await handle.close();
  }
  return true;
}

/** A name that leads to no file, and a disk that does not give back what it was given. */
const damageCodes: ReadonlySet<unknown> = new Set(['ENOTDIR', 'ELOOP', 'EIO', 'EUCLEAN']);

/** An `EngineError` without a cause says that there is something else than a file. */
function isDamage(error: unknown): boolean {
  if (error instanceof EngineError) return error.cause === undefined || isDamage(error.cause);
  return error instanceof Error && 'code' in error && damageCodes.has(error.code);
}
