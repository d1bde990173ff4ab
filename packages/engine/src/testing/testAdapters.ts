/** Adapters for generators under test, loaded as the test says. */
import type { AdapterSource } from '../adapters/adapterCache.js';
import type { LoadedAdapter } from '../adapters/loadedAdapter.js';
import type { AdapterReference } from '../types.js';

interface TestAdapter {
  readonly load: () => Promise<LoadedAdapter>;
  /** The result of `holdKept`. */
  readonly kept: LoadedAdapter | undefined;
}

const testAdapters = new WeakMap<AdapterReference, TestAdapter>();

/** A reference that `TestAdapters` loads with `load`. */
export function loadedBy(
  contentHash: string,
  load: () => Promise<LoadedAdapter>,
  kept?: LoadedAdapter,
): AdapterReference {
  const reference = { folder: `/${contentHash}`, contentHash };
  testAdapters.set(reference, { load, kept });
  return reference;
}

/** A reference to an adapter that a test has made. It takes part in loading like any other. */
export function referenceFor(adapter: LoadedAdapter | null): AdapterReference | null {
  return adapter && loadedBy(adapter.contentHash, () => Promise.resolve(adapter));
}

/** A source that keeps nothing and counts how often each adapter is held and released, by content hash. */
export class TestAdapters implements AdapterSource {
  readonly held = new Map<string, number>();
  readonly released = new Map<string, number>();

  constructor(readonly maxBytes = Infinity) {}

  holdKept(reference: AdapterReference): LoadedAdapter | undefined {
    const adapter = testAdapters.get(reference)?.kept;
    if (adapter !== undefined) increment(this.held, adapter);
    return adapter;
  }

  async hold(reference: AdapterReference): Promise<LoadedAdapter> {
    const found = testAdapters.get(reference);
    if (found === undefined) throw new Error(`no test has made the adapter ${reference.contentHash}`);
    const adapter = await found.load();
    increment(this.held, adapter);
    return adapter;
  }

  release(adapter: LoadedAdapter): void {
    increment(this.released, adapter);
  }

  resizeStacks(): void {
    // The bound is the test's own.
  }
}

function increment(counts: Map<string, number>, { contentHash }: LoadedAdapter): void {
  counts.set(contentHash, (counts.get(contentHash) ?? 0) + 1);
}
