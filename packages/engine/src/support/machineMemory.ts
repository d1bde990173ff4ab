import { totalmem } from 'node:os';

/** Bytes that this process may have: of the machine, or of the container that it runs in. */
export function machineMemory(): number {
  // 0 or an absurd number where nothing constrains it.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
