import { EngineError } from '../engine.js';
import type { AdapterReference } from '../types.js';
import type { AdapterCache } from './adapterCache.js';
import type { JobAdapter } from './generationJob.js';
import type { LoadedAdapter } from './loadedAdapter.js';

/**
 * An adapter for one user, who has it from the moment it is in memory until `release`, though others may make the cache
 * drop it.
 */
export class AdapterUse implements JobAdapter {
  private adapter: LoadedAdapter | undefined;
  private released = false;

  constructor(
    private readonly cache: AdapterCache,
    private readonly reference: AdapterReference,
  ) {}

  get contentHash(): string {
    return this.reference.contentHash;
  }

  inMemory(): LoadedAdapter | undefined {
    return (this.adapter ??= this.cache.holdKept(this.contentHash));
  }

  /** Call it once, and not where `inMemory` gave the adapter. */
  async load(): Promise<LoadedAdapter> {
    const adapter = await this.cache.hold(this.reference);
    if (this.released) {
      this.cache.release(adapter);
      throw new EngineError('cancelled', 'the adapter is not needed any more');
    }
    this.adapter = adapter;
    return adapter;
  }

  /** It must not be used after this. */
  release(): void {
    if (this.adapter !== undefined) this.cache.release(this.adapter);
    this.adapter = undefined;
    this.released = true;
  }
}
