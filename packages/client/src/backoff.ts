/**
 * Exponential backoff with full jitter: a random time up to `baseMs · 2^attempt`, at most `maxMs`, so that clients
 * that failed together do not return together. `attempt` counts from 0.
 */
export function backoffMs(attempt: number, { baseMs, maxMs }: { baseMs: number; maxMs: number }): number {
  return Math.random() * Math.min(maxMs, baseMs * 2 ** attempt);
}

/** Waits, and rejects with the signal's reason as soon as it aborts. */
export async function wait(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
