import type { AdapterReference } from '../types.js';
import { adapterBytes, type LoadedAdapter } from './loadedAdapter.js';

/**
 * Adapters by content hash, the least recently used dropped first. An adapter's hash is verified when it is read;
 * what has been verified is not read again. Requests hold on to the adapter they use, dropped or not.
 */
export class AdapterCache {
  /** In order of use, the latest last. */
  private readonly entries = new Map<string, { readonly adapter: LoadedAdapter; readonly bytes: number }>();
  private readonly loading = new Map<string, Promise<LoadedAdapter>>();
  private bytes = 0;
  private stackBytes = 0;

  constructor(
    /** Bound on the memory of the adapters kept and of the batches' stacks; a single larger one is kept all the same. */
    readonly maxBytes: number,
    private readonly read: (reference: AdapterReference) => Promise<LoadedAdapter>,
  ) {}

  /** The adapter if it is kept, which counts as a use. */
  kept(contentHash: string): LoadedAdapter | undefined {
    const entry = this.entries.get(contentHash);
    if (entry === undefined) return undefined;
    this.entries.delete(contentHash);
    this.entries.set(contentHash, entry);
    return entry.adapter;
  }

  /** @throws EngineError `adapter_invalid` or `memory_exceeded` */
  async get(reference: AdapterReference): Promise<LoadedAdapter> {
    const { contentHash } = reference;
    const kept = this.kept(contentHash);
    if (kept !== undefined) return kept;
    let loading = this.loading.get(contentHash);
    if (loading === undefined) {
      loading = this.load(reference).finally(() => this.loading.delete(contentHash));
      this.loading.set(contentHash, loading);
    }
    return loading;
  }

  /** The stacks of batches, see `RowAdapters`, take so many bytes of the bound from now on. */
  resizeStacks(bytes: number): void {
    this.stackBytes = bytes;
    this.dropOldest();
  }

  private async load(reference: AdapterReference): Promise<LoadedAdapter> {
    const loaded = await this.read(reference);
    const bytes = adapterBytes(loaded);
    this.entries.set(reference.contentHash, { adapter: loaded, bytes });
    this.bytes += bytes;
    this.dropOldest();
    return loaded;
  }

  private dropOldest(): void {
    for (const [hash, { bytes }] of this.entries) {
      if (this.bytes + this.stackBytes <= this.maxBytes || this.entries.size === 1) break;
      this.entries.delete(hash);
      this.bytes -= bytes;
    }
  }
}
