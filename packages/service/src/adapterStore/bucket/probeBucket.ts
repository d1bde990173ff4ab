import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Bucket } from './s3Bucket.js';

const maxDeletionMs = 10_000;

/**
 * Writes an object, reads it back, deletes it, and looks whether it is gone: all that a store of adapters does.
 * @throws Error that says what cannot be done.
 */
export async function probeBucket(bucket: Bucket, signal: AbortSignal): Promise<void> {
  const key = `.engraft-doctor-${randomBytes(6).toString('hex')}`;
  const folder = await mkdtemp(path.join(tmpdir(), 'engraft-doctor-'));
  let mayBeThere = false;
  try {
    const [sent, received] = [path.join(folder, 'sent'), path.join(folder, 'received')];
    const content = randomBytes(1024);
    await writeFile(sent, content);
    const sha256 = createHash('sha256').update(content).digest('base64');
    mayBeThere = true;
    await bucket.putObject(key, { file: sent, bytes: content.byteLength, sha256 }, signal);
    const found = await bucket.look(key, signal);
    const isThere = found !== null && (await bucket.fetchObject(key, found, received, signal));
    if (!isThere || !content.equals(await readFile(received))) {
      throw new Error(`${bucket.url} does not give back what is put into it`);
    }
    await bucket.deleteObject(key, signal);
    mayBeThere = false;
    if ((await bucket.look(key, signal)) !== null) throw new Error(`${bucket.url} still has what was deleted`);
  } finally {
    // A failure here would hide the first one, which is the one to report.
    if (mayBeThere) await bucket.deleteObject(key, AbortSignal.timeout(maxDeletionMs)).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}
