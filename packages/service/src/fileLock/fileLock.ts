import { open } from 'node:fs/promises';
import { tryLock } from 'fs-native-extensions';

/**
 * A lock on a file that the kernel releases with its holder, however that ends. It holds across containers that share
 * the file, in which process ids say nothing of each other.
 */
export interface FileLock {
  /** A process that inherits this descriptor holds the lock, too, until it ends. */
  readonly fd: number;
  /** Replaces what the file says. */
  write(text: string): Promise<void>;
  /** Lets go of the lock in this process. */
  release(): Promise<void>;
}

/**
 * Locks the file, which is made where it is missing, for its owner alone. `null` when somebody holds the lock.
 * @throws Error when the file cannot be opened, or its file system has no locks.
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
    // Not unlocked but closed: unlocking would take the lock from those who inherited it.
    release: () => handle.close(),
  };
}

/**
 * Whether somebody holds the lock of this file; `false` when there is no such file. Asking keeps nobody else from
 * asking, but may keep somebody from taking the lock at that moment.
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
