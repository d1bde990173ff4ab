/** How the engine's process is started, so that what it has freed goes back to the system. */

/**
 * The garbage of JavaScript is small here: numbers lie outside of V8's heap, whose young generation would otherwise
 * grow to 16 MiB in three parts. No slower in decoding, scoring and training.
 */
const SMALL_YOUNG_GENERATION = '--max-semi-space-size=1';

/**
 * The rest of that heap grows in smaller steps, for the same reason: one to four megabytes less, and no slower in
 * decoding nor in learning a passage.
 */
const SMALL_HEAP = '--optimize-for-size';

/** Warnings go to the host, which writes them down. */
export const NODE_ARGUMENTS: readonly string[] = [SMALL_YOUNG_GENERATION, SMALL_HEAP, '--no-warnings'];

/**
 * For the C library of GNU, from 128 KiB on: large pieces of memory are mapped one by one, and given back when they are
 * freed. By itself it raises that bound up to 32 MiB as pieces are freed, and keeps what caches and sessions had before
 * they grew. Other libraries ignore it.
 */
export const ALLOCATOR_VARIABLES: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
