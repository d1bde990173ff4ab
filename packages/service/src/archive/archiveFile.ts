import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { syncFolder } from '@engraft/engine/synced-folders';
import { crashPoint } from '../crashPoints.js';
import { makeOwnFolder } from '../ownFolder.js';

/** The bytes of a file. */
export interface FileContent {
  readonly size_bytes: number;
  readonly sha256: Buffer;
}

/** A new name for jobs that ended in this month. No two are the same, whoever else writes into the folder. */
export function newArchiveName(month: string): string {
  return `${month}/${randomBytes(12).toString('base64url')}.jsonl.gz`;
}

/** Writes the lines into the file, whatever it had before. They survive a power cut. */
export async function writeArchiveFile(file: string, lines: AsyncIterable<string>): Promise<FileContent> {
  await makeOwnFolder(path.dirname(file));
  const meter = new Meter();
  const handle = await open(file, 'w', 0o600);
  try {
    await pipeline(Readable.from(lines), createGzip(), meter, async (packed: AsyncIterable<Buffer>) => {
      for await (const chunk of packed) await handle.appendFile(chunk);
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(path.dirname(file));
  crashPoint('archive.written');
  return meter.content;
}

/** The lines of a file, one by one, and at the end what its bytes are. */
export async function* readArchiveFile(file: string): AsyncGenerator<string, FileContent> {
  const meter = new Meter();
  const unpacked = createGunzip();
  const reading = pipeline(createReadStream(file), meter, unpacked);
  // It is thrown below, when the lines end.
  reading.catch(() => undefined);
  for await (const line of createInterface({ input: unpacked, crlfDelay: Infinity })) yield line;
  await reading;
  return meter.content;
}

/** Passes bytes on, and says afterwards what they were. */
class Meter extends Transform {
  readonly #hash = createHash('sha256');
  #sizeBytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, passed: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk);
    this.#sizeBytes += chunk.byteLength;
    passed(null, chunk);
  }

  get content(): FileContent {
    return { size_bytes: this.#sizeBytes, sha256: this.#hash.digest() };
  }
}
