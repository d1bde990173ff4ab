/** Zeros in memory that threads can share. Sending them to a thread does not copy them. */
export function sharedFloats(count: number): Float32Array<SharedArrayBuffer> {
  return new Float32Array(new SharedArrayBuffer(count * Float32Array.BYTES_PER_ELEMENT));
}

export function sharedBytes(count: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(count));
}
