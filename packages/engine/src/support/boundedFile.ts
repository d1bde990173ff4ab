/** Reads files from outside. Opens only regular files, and reads only files of at most the expected size. */
import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { EngineError, type EngineErrorCode } from '../engine.js';

/** The code and the file name for errors about a file. */
export interface ErrorContext {
  readonly code: Extract<EngineErrorCode, 'checkpoint_invalid' | 'adapter_invalid'>;
  /** The file's name in messages. */
  readonly file: string;
}

export interface OpenFile {
  readonly handle: FileHandle;
  /** Size in bytes when the file was opened. */
  readonly size: number;
}

/** @returns the open file, which the caller closes, or `undefined` if it does not exist. */
export async function openRegularFile(path: string, { code, file }: ErrorContext): Promise<OpenFile | undefined> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, opening a pipe in the file's place would wait for ever.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw unreadable(code, file, cause);
  }
  try {
    const stats = await handle.stat();
    if (stats.isFile()) return { handle, size: stats.size };
  } catch (cause) {
    await handle.close();
    throw unreadable(code, file, cause);
  }
  await handle.close();
  throw new EngineError(code, `${file} is not a file`);
}

function unreadable(code: ErrorContext['code'], file: string, cause: unknown): EngineError {
  const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new EngineError(code, `${file} cannot be read${reason}`, { cause });
}

/** Differs for another file and for other content. */
export function fileIdentity({ dev, ino, size, mtimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs].join();
}

/** Reads bytes from `start` on into `bytes`. Returns fewer than `length` if the file ends before. */
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
 * @returns the bytes, or `undefined` if the file does not exist. A file of more than `maxBytes` bytes is refused
 *   unread.
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
    if (size > maxBytes) throw new EngineError(code, `${file} has ${size} bytes, but may have at most ${maxBytes}`);
    // A file that has grown, or misstates its size as files in `/proc` do, is cut off.
    return await readUpTo(handle, 0, size);
  } catch (cause) {
    throw cause instanceof EngineError ? cause : unreadable(code, file, cause);
  } finally {
    await handle.close();
  }
}
