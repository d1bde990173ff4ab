/**
 * Gives memory that nothing refers to back to the system, in a process that was started with `--expose-gc`. V8 collects
 * garbage when its heap grows. Weights lie outside of it, so a process that has nothing to do would keep them.
 */
export function collectGarbage(): void {
  globalThis.gc?.();
}
