/**
 * Lets the first of a kind through, and then one every `everyMs`. Returns how many were skipped since the last one, or
 * `null` if this one is skipped. There must be few kinds, since each is remembered.
 */
export function createSampler(everyMs: number, nowMs: () => number): (kind: string) => number | null {
  const last = new Map<string, { readonly atMs: number; passed_over: number }>();
  return (kind) => {
    const now = nowMs();
    const before = last.get(kind);
    if (before !== undefined && now - before.atMs < everyMs) {
      before.passed_over += 1;
      return null;
    }
    last.set(kind, { atMs: now, passed_over: 0 });
    return before?.passed_over ?? 0;
  };
}
