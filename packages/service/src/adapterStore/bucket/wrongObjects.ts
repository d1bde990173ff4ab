/**
 * After this an adapter is fetched again although its objects look the same: a server may have mended them in place,
 * with the time and the tag that they had.
 */
export const rememberedMs = 3_600_000;

/** Adapters that were fetched in vain, by what the bucket said of their objects then. */
export class WrongObjects {
  readonly #found = new Map<string, { readonly tags: string; readonly atMs: number }>();

  /** `nowMs` is a monotonic clock. */
  constructor(private readonly nowMs: () => number) {}

  add(adapterHash: string, tags: string): void {
    const nowMs = this.nowMs();
    for (const [each, { atMs }] of this.#found) if (nowMs - atMs >= rememberedMs) this.#found.delete(each);
    this.#found.set(adapterHash, { tags, atMs: nowMs });
  }

  /** Whether fetching these objects again would be in vain. */
  has(adapterHash: string, tags: string): boolean {
    const found = this.#found.get(adapterHash);
    return found?.tags === tags && this.nowMs() - found.atMs < rememberedMs;
  }

  /** Its objects are others now. */
  forget(adapterHash: string): void {
    this.#found.delete(adapterHash);
  }
}
