import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from './backupError.js';
import { readTar, TarError, type TarEntry } from './tar.js';

export interface ReadOptions {
  /** Bytes of the compressed file. */
  readonly onProgress?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Reads the files of an archive in their order, until the work on one is `enough`. Check the seal first.
 * @throws BackupError if the file is no archive
 */
export async function forEachEntry(
  file: string,
  { onProgress, signal }: ReadOptions,
  work: (entry: TarEntry) => Promise<unknown>,
): Promise<void> {
  const compressed = createReadStream(file, { highWaterMark: 2 ** 18 });
  const archive = createGunzip();
  compressed.on('error', (error) => archive.destroy(error));
  compressed.pipe(archive);
  try {
    for await (const entry of readTar(archive)) {
      signal?.throwIfAborted();
      if ((await work(entry)) === 'enough') return;
      onProgress?.(compressed.bytesRead);
    }
  } catch (error) {
    throw isUnreadable(error) ? new BackupError(`${file} cannot be read: ${error.message}`, { cause: error }) : error;
  } finally {
    compressed.destroy();
    archive.destroy();
  }
}

/** zlib's own errors have codes that begin like this. */
function isUnreadable(error: unknown): error is Error {
  if (error instanceof TarError) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

export async function textOf({ content }: TarEntry): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** @throws BackupError */
export function parseJson<Value>(file: string, schema: z.ZodType<Value>, text: string): Value {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError(`${file} is damaged: its description cannot be read`, { cause: error });
  }
}

/** @param kind of file that was expected */
export function misplaced(file: string, { name }: TarEntry, kind = 'backup'): BackupError {
  return new BackupError(`${file} is no ${kind}: '${name}' is not what comes next in one`);
}
