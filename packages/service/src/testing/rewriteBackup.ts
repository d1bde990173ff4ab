import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { readTar, tarEnd, tarFile } from '../backup/tar.js';
import { writeArchive } from '../backup/writeArchive.js';

/**
 * Writes a backup with other content, sealed like any other. `change` returns a file's text, or `null` to leave it out.
 */
export async function rewriteBackup(
  from: string,
  to: string,
  change: (name: string, text: string) => string | null,
): Promise<void> {
  await writeArchive(to, changed(from, change), () => Promise.resolve());
}

async function* changed(
  from: string,
  change: (name: string, text: string) => string | null,
): AsyncGenerator<Uint8Array> {
  for await (const { name, content } of readTar(createReadStream(from).pipe(createGunzip()))) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content) pieces.push(piece);
    // One character for each byte, so that weights stay as they are.
    const text = change(name, Buffer.concat(pieces).toString('latin1'));
    if (text === null) continue;
    const bytes = Buffer.from(text, 'latin1');
    yield* tarFile(name, bytes.byteLength, [bytes]);
  }
  yield tarEnd;
}
