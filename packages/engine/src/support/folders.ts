/** Reads files of bounded size and writes folders whole or not at all. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { readBoundedFile } from './boundedFile.js';
import { EngineError } from '../engine.js';
import { partialName, removeLeftovers } from './partial.js';
import { isStorageFull } from './storageFull.js';
import { makeSyncedFolder, syncFolder } from './syncedFolders.js';

/** @throws EngineError `adapter_invalid` when it is not a file, cannot be read, or has more than `maxBytes` bytes. */
export async function readBounded(file: string, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readBoundedFile(file, { code: 'adapter_invalid', file }, maxBytes);
  if (bytes === undefined) throw new EngineError('adapter_invalid', `${file} is missing`);
  return bytes;
}

/**
 * Writes a new folder of files from memory, see `buildFolder`.
 * @param files contents by name.
 */
export async function writeFolder(folder: string, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  await buildFolder(folder, async (partial) => {
    for (const [name, bytes] of Object.entries(files)) await writeSynced(path.join(partial, name), bytes);
  });
}

/**
 * Makes a new folder: under a temporary name beside it, synced, then renamed. A crash leaves either the whole folder or
 * one named `<folder>.partial-…`, which the next attempt removes.
 * @param build writes and syncs the files in the folder that it gets.
 * @throws EngineError from `build`; `storage_full`; `internal`, for instance when the folder exists already.
 */
export async function buildFolder(folder: string, build: (partial: string) => Promise<void>): Promise<void> {
  const partial = partialName(folder);
  try {
    await makeSyncedFolder(path.dirname(folder));
    await removeLeftovers(path.dirname(folder), path.basename(folder));
    await mkdir(partial);
    await build(partial);
    await syncFolder(partial);
    await rename(partial, folder);
    await syncFolder(path.dirname(folder));
  } catch (cause) {
    await rm(partial, { recursive: true, force: true });
    if (cause instanceof EngineError) throw cause;
    if (!isStorageFull(cause))
      throw new EngineError('internal', `the folder ${folder} could not be written`, { cause });
    throw new EngineError('storage_full', `the folder ${folder} could not be written: the disk or the quota is full`, {
      cause,
    });
  }
}

/** Writes and syncs a new file. */
export async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
