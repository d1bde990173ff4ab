import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelFolders } from './cacheLayout.js';

/** A lock on a file that ends with its holder. The user of this package provides it. */
export type TryLock = (file: string) => Promise<
  | { readonly kind: 'owned'; readonly lock: { release(): Promise<void> } }
  /** `owner` says who holds it, for people. Empty if that is not known. */
  | { readonly kind: 'taken'; readonly owner: string }
>;

export interface WaitOptions {
  readonly tryLock: TryLock;
  readonly signal?: AbortSignal;
  /** Somebody else has the model. Called once. */
  readonly onWaiting?: (owner: string) => void;
}

const waitMs = 200;

/** Does the work while nobody else changes the model in the cache. Waits for anybody who does. */
export async function withModelLock<T>(
  { lockFile }: Pick<ModelFolders, 'lockFile'>,
  { tryLock, signal, onWaiting }: WaitOptions,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(path.dirname(lockFile), { recursive: true });
  let taken = await tryLock(lockFile);
  if (taken.kind === 'taken') onWaiting?.(taken.owner);
  while (taken.kind === 'taken') {
    await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
    taken = await tryLock(lockFile);
  }
  try {
    return await work();
  } finally {
    await taken.lock.release();
  }
}
