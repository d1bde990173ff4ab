/**
 * After this an adapter is fetched again although its objects look the same: a server may have mended them in place,
 * with the time and the tag that they had.
 */
export const remembered_ms = 3_600_000;

/** Adapters that were fetched in vain, by what the bucket said of their objects then. */
export class WrongObjects {
  readonly #found = new Map<string, { readonly tags: string; readonly at_ms: number }>();

  /** `now_ms` is a monotonic clock. */
  constructor(private readonly now_ms: () => number) {}

  add(adapter_hash: string, tags: string): void {
    const now_ms = this.now_ms();
    for (const [each, { at_ms }] of this.#found) if (now_ms - at_ms >= remembered_ms) this.#found.delete(each);
    this.#found.set(adapter_hash, { tags, at_ms: now_ms });
  }

  /** Whether fetching these objects again would be in vain. */
  has(adapter_hash: string, tags: string): boolean {
    const found = this.#found.get(adapter_hash);
    return found?.tags === tags && this.now_ms() - found.at_ms < remembered_ms;
  }

  /** Its objects are others now. */
  forget(adapter_hash: string): void {
    this.#found.delete(adapter_hash);
  }
}
