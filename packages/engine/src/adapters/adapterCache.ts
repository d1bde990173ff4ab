import type { AdapterReference } from '../types.js';
import { sum } from '../support/numbers.js';
import { adapterBytes, memoryOf, type LoadedAdapter } from './loadedAdapter.js';

/** Two loads at once: for half of the time that a load takes, its thread waits for the disk. */
export const maxConcurrentLoads = 2;

/** Memory that is kept for the next adapters may take this share of the bound, on top of it. */
const maxSpareShare = 1 / 16;

/** @param memory memory of any size that nobody uses any more, handed over to the reader. */
export type ReadAdapter = (reference: AdapterReference, memory: ArrayBuffer | undefined) => Promise<LoadedAdapter>;

/** Where a generator gets its adapters. Whoever holds one gives it back with `release`. */
export interface AdapterSource {
  /** Bound on the memory of the adapters kept and of the stacks of batches. */
  readonly maxBytes: number;
  /** The adapter if it is in memory. */
  holdKept(reference: AdapterReference): LoadedAdapter | undefined;
  /** @throws EngineError `adapter_damaged`, `adapter_invalid` or `memory_exceeded` */
  hold(reference: AdapterReference): Promise<LoadedAdapter>;
  /** Call it once for each time that the adapter was held. */
  release(adapter: LoadedAdapter): void;
  /** From now on the stacks of batches (see `BatchAdapters`) take this many bytes of the bound. */
  resizeStacks(bytes: number): void;
}

interface Loading {
  readonly adapter: Promise<LoadedAdapter>;
  /** The number of callers that wait for it. */
  users: number;
}

/**
 * Adapters by content hash. The least recently used is dropped first. An adapter's hash is verified once, when it is
 * read. Users keep the adapter they hold, even after it is dropped.
 *
 * When an adapter was dropped and nobody uses it, its memory goes to one of the next that are read, if the sizes match.
 * Left to the garbage collector, a dozen dropped adapters make V8 collect everything and forget compiled code.
 */
export class AdapterCache implements AdapterSource {
  /** Adapters in order of use, the latest last. */
  private readonly entries = new Map<string, { readonly adapter: LoadedAdapter; readonly bytes: number }>();
  private readonly loading = new Map<string, Loading>();
  private readonly users = new Map<LoadedAdapter, number>();
  /** Memory for the next adapters, at most as many pieces as are loaded at once. */
  private readonly spare: ArrayBuffer[] = [];
  private bytes = 0;
  private stackBytes = 0;

  constructor(
    /** A single adapter that is larger than the bound is kept, too. */
    readonly maxBytes: number,
    private readonly read: ReadAdapter,
  ) {}

  /** The number of adapters that are in use. */
  get usedCount(): number {
    return this.users.size;
  }

  holdKept({ contentHash }: AdapterReference): LoadedAdapter | undefined {
    const entry = this.entries.get(contentHash);
    if (entry === undefined) return undefined;
    this.entries.delete(contentHash);
    this.entries.set(contentHash, entry);
    this.count(entry.adapter, 1);
    return entry.adapter;
  }

  hold(reference: AdapterReference): Promise<LoadedAdapter> {
    const { contentHash } = reference;
    const kept = this.holdKept(reference);
    if (kept !== undefined) return Promise.resolve(kept);
    let loading = this.loading.get(contentHash);
    if (loading === undefined) {
      loading = { adapter: this.load(reference), users: 0 };
      this.loading.set(contentHash, loading);
    }
    loading.users += 1;
    return loading.adapter;
  }

  release(adapter: LoadedAdapter): void {
    this.count(adapter, -1);
    this.reuse(adapter);
  }

  resizeStacks(bytes: number): void {
    this.stackBytes = bytes;
    this.dropOldest();
  }

  private async load(reference: AdapterReference): Promise<LoadedAdapter> {
    const { contentHash } = reference;
    try {
      const adapter = await this.read(reference, this.spare.pop());
      const bytes = adapterBytes(adapter);
      // Everyone who waits holds it from now on, whenever their turn comes.
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

  /** Keeps the memory of an adapter that nobody has any more and nobody can get again. */
  private reuse(adapter: LoadedAdapter): void {
    if (this.users.has(adapter) || this.entries.get(adapter.contentHash)?.adapter === adapter) return;
    for (const memory of memoryOf(adapter)) {
      const bytes = memory.byteLength + sum(this.spare.map(({ byteLength }) => byteLength));
      if (this.spare.length < maxConcurrentLoads && bytes <= this.maxBytes * maxSpareShare) this.spare.push(memory);
    }
  }

  private count(adapter: LoadedAdapter, change: number): void {
    const users = (this.users.get(adapter) ?? 0) + change;
    if (users > 0) this.users.set(adapter, users);
    else this.users.delete(adapter);
  }
}
