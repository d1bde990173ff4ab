import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** The hash that the hub promises for a file's content, and the name of its blob. */
export interface ContentHash {
  /** Large files (LFS) are known by their SHA-256, the others by git's own hash of a blob. */
  readonly kind: 'sha256' | 'git-sha1';
  /** In hexadecimal digits. */
  readonly digest: string;
}

/**
 * The digest of a file, read a piece at a time.
 * @param sizeBytes git hashes it before the content.
 */
export async function hashFile(file: string, kind: ContentHash['kind'], sizeBytes: number): Promise<string> {
  const hash = createHash(kind === 'sha256' ? 'sha256' : 'sha1');
  if (kind === 'git-sha1') hash.update(`blob ${sizeBytes}\0`);
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
