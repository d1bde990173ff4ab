import { totalmem } from 'node:os';

/** Bytes of memory that this process may use: the machine's, or its container's. */
export function machineMemory(): number {
  // It is 0 or an absurd number if nothing constrains the process.
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
