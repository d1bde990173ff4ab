import { open } from 'node:fs/promises';
import { tryLock } from 'fs-native-extensions';

/**
 * A lock on a file, which the kernel releases when its holder ends in any way. It holds across containers that share
 * the file, whose process ids mean nothing to each other.
 */
export interface FileLock {
  /** A process that inherits this descriptor also holds the lock until it ends. */
  readonly fd: number;
  /** Replaces the file's content. */
  write(text: string): Promise<void>;
  /** Lets go of the lock in this process. */
  release(): Promise<void>;
}

/**
 * Locks the file, and makes it if it is missing, for its owner alone. `null` if somebody holds the lock.
 * @throws Error if the file cannot be opened, or its file system has no locks
 */
export async function tryLockFile(file: string): Promise<FileLock | null> {
  const handle = await open(file, 'a+', 0o600);
  let locked = false;
  try {
    locked = whereLocksExist(file, () => tryLock(handle.fd));
  } finally {
    if (!locked) await handle.close();
  }
  if (!locked) return null;
  return {
    fd: handle.fd,
    write: async (text) => {
      await handle.truncate();
      await handle.write(text);
    },
    // Closes rather than unlocks: unlocking would take the lock from processes that inherited it.
    release: () => handle.close(),
  };
}

/**
 * Whether somebody holds the lock of this file. `false` if there is no such file. The question does not disturb other
 * questions, but may keep somebody from taking the lock at that moment.
 */
export async function isFileLocked(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null);
  if (handle === null) return false;
  try {
    return !whereLocksExist(file, () => tryLock(handle.fd, { shared: true }));
  } finally {
    await handle.close();
  }
}

function whereLocksExist(file: string, lock: () => boolean): boolean {
  try {
    return lock();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} cannot be locked (${why}): its folder needs a file system with locks`, {
      cause: error,
    });
  }
}
