/**
 * Makes a value at most once within `fresh_ms`, counted from when it was made, however many callers ask. Callers that
 * come while it is being made wait for it. A failure reaches those who waited and is not kept.
 */
export function cacheFor<Value>(
  fresh_ms: number,
  make: () => Promise<Value>,
  now_ms: () => number,
): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  let stale_at_ms = Infinity;
  return () => {
    if (value !== null && now_ms() < stale_at_ms) return value;
    stale_at_ms = Infinity;
    value = make();
    value.then(
      () => (stale_at_ms = now_ms() + fresh_ms),
      () => (value = null),
    );
    return value;
  };
}
