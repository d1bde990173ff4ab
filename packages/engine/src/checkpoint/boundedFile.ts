/** Files that come from outside: opened only if they are files, and read only if they are not larger than expected. */
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { EngineError } from '../engine.js';
import type { ErrorContext } from './safetensors.js';

export interface OpenFile {
  readonly handle: FileHandle;
  /** Size in bytes when the file was opened. */
  readonly size: number;
}

/** @returns the open file, which the caller closes; `undefined` when there is none. */
export async function openRegularFile(path: string, { code, file }: ErrorContext): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, opening a pipe in place of the file would wait for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new EngineError(code, `${file} cannot be read.`, { cause });
  }
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, size: stats.size };
  } catch (cause) {
    await handle.close();
    throw new EngineError(code, `${file} cannot be read.`, { cause });
  }
  await handle.close();
  throw new EngineError(code, `${file} is not a file.`);
}

/** Another one is another file, or another content. */
export function fileIdentity({ dev, ino, size, mtimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs].join();
}

/** The bytes from `start` on, fewer than `length` where the file ends before; they lie in `bytes`. */
export async function readUpTo(
  handle: FileHandle,
  start: number,
  length: number,
  bytes: Uint8Array = new Uint8Array(length),
): Promise<Uint8Array> {
  let done = 0;
  while (done < length) {
    // One read call moves less than 2 GiB.
    const { bytesRead } = await handle.read(bytes, done, Math.min(2 ** 30, length - done), start + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/**
 * @returns the bytes, `undefined` when there is no such file; a file of more than `maxBytes` bytes is refused unread.
 */
export async function readBoundedFile(
  path: string,
  context: ErrorContext,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const opened = await openRegularFile(path, context);
  if (opened === undefined) return undefined;
  const { handle, size } = opened;
  const { code, file } = context;
  try {
    if (size > maxBytes) throw new EngineError(code, `${file} has ${size} bytes; at most ${maxBytes} would fit.`);
    // A file that has grown, or lies about its size as those of `/proc` do, is cut off.
    return await readUpTo(handle, 0, size);
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError(code, `${file} cannot be read.`, { cause });
  } finally {
    await handle.close();
  }
}
