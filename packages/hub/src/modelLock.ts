import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelFolders } from './cacheLayout.js';

/** A lock on a file that ends with its holder; whoever uses this package has one. */
export type TryLock = (file: string) => Promise<
  | { readonly kind: 'owned'; readonly lock: { release(): Promise<void> } }
  /** `owner` says who has it, for people; empty where that is not known. */
  | { readonly kind: 'taken'; readonly owner: string }
>;

export interface WaitOptions {
  readonly tryLock: TryLock;
  readonly signal?: AbortSignal;
  /** Somebody else has the model; called once. */
  readonly onWaiting?: (owner: string) => void;
}

const wait_ms = 200;

/** Does the work while nobody else changes what the cache has of the model; waits for whoever does. */
export async function withModelLock<T>(
  { lockFile }: Pick<ModelFolders, 'lockFile'>,
  { tryLock, signal, onWaiting }: WaitOptions,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(path.dirname(lockFile), { recursive: true });
  let taken = await tryLock(lockFile);
  if (taken.kind === 'taken') onWaiting?.(taken.owner);
  while (taken.kind === 'taken') {
    await sleep(wait_ms, undefined, signal === undefined ? {} : { signal });
    taken = await tryLock(lockFile);
  }
  try {
    return await work();
  } finally {
    await taken.lock.release();
  }
}
