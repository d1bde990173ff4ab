import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { isAbsence } from '../isAbsence.js';
import { BackupError } from './backupError.js';

/**
 * The seal ends a backup: the SHA-256 of all bytes before it, as a line of text in a gzip member of its own, so that
 * gzip and tar ignore it. It reveals any byte of the file that differs from what was written.
 */
export function sealOf(sha256: Buffer): Buffer {
  const text = Buffer.from(`sha256:${sha256.toString('hex')}\n`);
  // One stored block; see RFC 1952 and RFC 1951, section 3.2.4.
  const block = Buffer.alloc(5);
  block.writeUInt8(1, 0);
  block.writeUInt16LE(text.byteLength, 1);
  block.writeUInt16LE(0xffff - text.byteLength, 3);
  const ending = Buffer.alloc(8);
  ending.writeUInt32LE(crc32(text), 0);
  ending.writeUInt32LE(text.byteLength, 4);
  return Buffer.concat([gzipHeader, block, text, ending]);
}

const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

export const sealBytes = sealOf(Buffer.alloc(32)).byteLength;

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    if (isAbsence(error)) throw new BackupError(`there is no file ${file}`);
    throw new BackupError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new BackupError(`${file} is no file`);
}

/**
 * Reads the whole file, and reports its SHA-256 before the seal.
 * @throws BackupError if the seal does not fit, or there is no such file
 */
export async function checkSeal(
  file: string,
  onProgress: (bytes: number, total: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  const size = await sizeOf(file);
  const sealedBytes = Math.max(0, size - sealBytes);
  const hash = createHash('sha256');
  const ending: Uint8Array[] = [];
  let at = 0;
  const pieces = createReadStream(file, { highWaterMark: 2 ** 20, ...(signal === undefined ? {} : { signal }) });
  for await (const bytes of pieces as AsyncIterable<Buffer>) {
    const sealed = bytes.subarray(0, Math.max(0, sealedBytes - at));
    hash.update(sealed);
    ending.push(bytes.subarray(sealed.byteLength));
    at += bytes.byteLength;
    onProgress(at, size);
  }
  const sha256 = hash.digest();
  if (!sealOf(sha256).equals(Buffer.concat(ending))) {
    throw new BackupError(
      `${file} is damaged or incomplete, or not of Engraft: its content does not have its checksum`,
    );
  }
  return sha256.toString('hex');
}
