import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { type FileLock, tryLockFile } from './fileLock.js';

export type OwnedFile =
  { readonly kind: 'owned'; readonly lock: FileLock } | { readonly kind: 'taken'; readonly owner: string };

/**
 * Locks a file and writes into it who holds it, for whoever is told `taken`; the owner is empty where nothing is
 * written.
 * @throws Error as `tryLockFile`.
 */
export async function ownFile(file: string): Promise<OwnedFile> {
  const lock = await tryLockFile(file);
  if (lock === null) return { kind: 'taken', owner: (await readFile(file, 'utf8').catch(() => '')).trim() };
  await lock.write(`process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}\n`);
  return { kind: 'owned', lock };
}
