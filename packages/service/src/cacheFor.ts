/**
 * Makes a value at most once within `freshMs`, counted from when it was made, however many callers ask. Callers that
 * come while it is being made wait for it. A failure reaches those who waited and is not kept.
 */
export function cacheFor<Value>(
  freshMs: number,
  make: () => Promise<Value>,
  nowMs: () => number,
): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  let staleAtMs = Infinity;
  return () => {
    if (value !== null && nowMs() < staleAtMs) return value;
    staleAtMs = Infinity;
    value = make();
    value.then(
      () => (staleAtMs = nowMs() + freshMs),
      () => (value = null),
    );
    return value;
  };
}
