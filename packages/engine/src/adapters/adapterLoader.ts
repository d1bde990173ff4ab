import type { DecoderConfig } from '../model/config.js';
import { ThreadCalls } from '../support/threadCalls.js';
import type { AdapterReference } from '../types.js';
import type { LoadedAdapter } from './loadedAdapter.js';

export interface LoadRequest {
  readonly reference: AdapterReference;
  readonly memory: ArrayBuffer | undefined;
}

/**
 * Loads adapters in a thread of its own. Reading a file takes a dozen turns of the event loop, and each would wait for
 * a step of the model. Hashing and checking what was read would hold up every answer.
 */
export class AdapterLoader {
  private readonly calls: ThreadCalls<LoadRequest, LoadedAdapter>;

  constructor(config: DecoderConfig) {
    const entry = new URL('./adapterThread.js', import.meta.url);
    this.calls = new ThreadCalls(entry, 'the thread that loads adapters', config);
  }

  /**
   * @param memory handed over to the thread, which uses it if the adapter has its size.
   * @throws EngineError `adapter_damaged`, `adapter_invalid` or `memory_exceeded`; `cancelled` when the loader is
   *   closed before the adapter is there.
   */
  load(reference: AdapterReference, memory?: ArrayBuffer): Promise<LoadedAdapter> {
    return this.calls.call({ reference, memory }, memory === undefined ? [] : [memory]);
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
