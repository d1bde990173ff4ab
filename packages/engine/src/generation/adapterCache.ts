import type { AdapterReference } from '../types.js';
import { adapterBytes, memoryOf, type LoadedAdapter } from './loadedAdapter.js';
import { LOADING_AT_ONCE } from './waitingLine.js';

/** The part of the bound that memory which waits for the next adapters takes besides, at most. */
const MAX_SPARE_SHARE = 1 / 16;

/** @param room memory that nobody uses any more, of any size, to be handed over. */
export type ReadAdapter = (reference: AdapterReference, room: ArrayBuffer | undefined) => Promise<LoadedAdapter>;

interface Loading {
  readonly adapter: Promise<LoadedAdapter>;
  /** Who waits for it. */
  users: number;
}

/**
 * Adapters by content hash, the least recently used dropped first. An adapter's hash is verified when it is read;
 * what has been verified is not read again. Users hold on to the adapter they use, dropped or not.
 *
 * The memory of one that was dropped, and that nobody uses, is given to one of the next, which takes it if it is as
 * large: left to the garbage collector, a dozen of them make V8 collect everything, and forget what it has compiled and
 * not used for a while.
 */
export class AdapterCache {
  /** Adapters in order of use, the latest last. */
  private readonly entries = new Map<string, { readonly adapter: LoadedAdapter; readonly bytes: number }>();
  private readonly loading = new Map<string, Loading>();
  private readonly users = new Map<LoadedAdapter, number>();
  /** Memory for the next adapters, no more than are loaded at once. */
  private readonly spare: ArrayBuffer[] = [];
  private bytes = 0;
  private stackBytes = 0;

  constructor(
    /**
     * Bound on the memory of the adapters kept and of the batches' stacks; a single larger one is kept all the same.
     */
    readonly maxBytes: number,
    private readonly read: ReadAdapter,
  ) {}

  /** Adapters that somebody uses. */
  get usedCount(): number {
    return this.users.size;
  }

  /** The adapter if it is kept, which counts as a use; its user has it until `release`. */
  holdKept(contentHash: string): LoadedAdapter | undefined {
    const entry = this.entries.get(contentHash);
    if (entry === undefined) return undefined;
    this.entries.delete(contentHash);
    this.entries.set(contentHash, entry);
    this.count(entry.adapter, 1);
    return entry.adapter;
  }

  /**
   * The adapter, read if need be; its user has it until `release`.
   * @throws EngineError `adapter_damaged`, `adapter_invalid` or `memory_exceeded`
   */
  hold(reference: AdapterReference): Promise<LoadedAdapter> {
    const { contentHash } = reference;
    const kept = this.holdKept(contentHash);
    if (kept !== undefined) return Promise.resolve(kept);
    let loading = this.loading.get(contentHash);
    if (loading === undefined) {
      loading = { adapter: this.load(reference), users: 0 };
      this.loading.set(contentHash, loading);
    }
    loading.users += 1;
    return loading.adapter;
  }

  /** Call it once for each time that the adapter was given to a user. */
  release(adapter: LoadedAdapter): void {
    this.count(adapter, -1);
    this.reuse(adapter);
  }

  /** The stacks of batches, see `RowAdapters`, take so many bytes of the bound from now on. */
  resizeStacks(bytes: number): void {
    this.stackBytes = bytes;
    this.dropOldest();
  }

  private async load(reference: AdapterReference): Promise<LoadedAdapter> {
    const { contentHash } = reference;
    try {
      const adapter = await this.read(reference, this.spare.pop());
      const bytes = adapterBytes(adapter);
      // All that wait for it have it from now on, whenever their turn comes.
      this.count(adapter, this.loading.get(contentHash)?.users ?? 0);
      this.entries.set(contentHash, { adapter, bytes });
      this.bytes += bytes;
      this.dropOldest();
      return adapter;
    } finally {
      this.loading.delete(contentHash);
    }
  }

  private dropOldest(): void {
    for (const [hash, { adapter, bytes }] of this.entries) {
      if (this.bytes + this.stackBytes <= this.maxBytes || this.entries.size === 1) break;
      this.entries.delete(hash);
      this.bytes -= bytes;
      this.reuse(adapter);
    }
  }

  /** Reuses the memory of an adapter that nobody has any more, nor can have again. */
  private reuse(adapter: LoadedAdapter): void {
    if (this.users.has(adapter) || this.entries.get(adapter.contentHash)?.adapter === adapter) return;
    for (const memory of memoryOf(adapter)) {
      const bytes = this.spare.reduce((sum, { byteLength }) => sum + byteLength, memory.byteLength);
      if (this.spare.length < LOADING_AT_ONCE && bytes <= this.maxBytes * MAX_SPARE_SHARE) this.spare.push(memory);
    }
  }

  private count(adapter: LoadedAdapter, change: number): void {
    const users = (this.users.get(adapter) ?? 0) + change;
    if (users > 0) this.users.set(adapter, users);
    else this.users.delete(adapter);
  }
}
