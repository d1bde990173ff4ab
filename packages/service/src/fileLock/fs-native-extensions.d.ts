declare module 'fs-native-extensions' {
  /**
   * Takes a lock on the whole file behind the descriptor: an exclusive one, or one that others may share. `false` when
   * somebody holds one that forbids it; throws when the file system has no locks.
   */
  export function tryLock(fd: number, options?: { readonly shared: boolean }): boolean;
}
