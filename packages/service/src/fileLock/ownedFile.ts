import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FileLock, tryLockFile } from './fileLock.js';

export type OwnedFile =
  { readonly kind: 'owned'; readonly lock: FileLock } | { readonly kind: 'taken'; readonly owner: string };

/**
 * Locks a file and writes the holder into it, for callers that get `taken`. The owner is empty if nothing is written.
 * @throws Error like `tryLockFile`
 */
export async function ownFile(file: string): Promise<OwnedFile> {
  const lock = await tryLockFile(file);
  if (lock === null) return { kind: 'taken', owner: (await readFile(file, 'utf8').catch(() => '')).trim() };
  await lock.write(`process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`);
  return { kind: 'owned', lock };
}
