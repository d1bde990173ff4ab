declare module 'fs-native-extensions' {
  /**
   * Takes a lock on the whole file behind the descriptor, exclusive or shared. `false` if somebody holds a lock that
   * forbids it. Throws if the file system has no locks.
   */
  export function tryLock(fd: number, options?: { readonly shared: boolean }): boolean;
}
