import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { syncFolder } from '@engraft/engine/synced-folders';
import { sealOf } from './seal.js';

/**
 * Writes a compressed and sealed archive that only its owner can read. It gets its name once it is whole, survives a
 * power cut, and `check` has read it back; then it replaces whatever had the name. A failure leaves nothing behind.
 */
export async function writeArchive(
  file: string,
  archive: AsyncIterable<Uint8Array>,
  check: (partial: string, sha256: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const partial = `${file}.partial`;
  // A file of an earlier attempt may be open to others.
  await rm(partial, { force: true });
  const handle = await open(partial, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    const write = async (compressed: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const piece of compressed) {
        hash.update(piece);
        await writeWhole(handle, piece);
        bytes += piece.byteLength;
      }
      const seal = sealOf(hash.copy().digest());
      await writeWhole(handle, seal);
      bytes += seal.byteLength;
    };
    // Adapters hardly get smaller at any level.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 2 ** 18 });
    await pipeline(Readable.from(archive), gzip, write, signal === undefined ? {} : { signal });
    await handle.sync();
    await handle.close();
    const sha256 = hash.digest('hex');
    await check(partial, sha256);
    await rename(partial, file);
    await syncFolder(path.dirname(path.resolve(file)));
    return { bytes, sha256 };
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeWhole(
  handle: { write: (bytes: Uint8Array) => Promise<{ bytesWritten: number }> },
  bytes: Uint8Array,
) {
  for (let at = 0; at < bytes.byteLength;) at += (await handle.write(bytes.subarray(at))).bytesWritten;
}
