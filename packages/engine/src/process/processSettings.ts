/** Settings of the engine's process that make freed memory go back to the system. */

/**
 * JavaScript's garbage is small here, because numbers lie outside V8's heap. Without this setting the young generation
 * would grow to 16 MiB in three parts. Decoding, scoring and training are no slower with it.
 */
const smallYoungGeneration = '--max-semi-space-size=1';

/**
 * Makes the rest of that heap grow in smaller steps. It saves one to four megabytes, and decoding and learning are no
 * slower.
 */
const smallHeap = '--optimize-for-size';

/** See `collectGarbage`. */
const collectsWhenAsked = '--expose-gc';

/** The last argument leaves warnings to the host, which logs them. */
export const nodeArguments: readonly string[] = [smallYoungGeneration, smallHeap, collectsWhenAsked, '--no-warnings'];

/**
 * For GNU's C library: pieces of memory from 128 KiB on are mapped one by one, and given back when freed. By default
 * the library raises that bound up to 32 MiB as pieces are freed, and keeps the memory that caches and sessions had
 * before they grew. Other libraries ignore these variables.
 */
export const allocatorVariables: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
