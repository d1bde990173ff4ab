import type { DecoderConfig } from '../model/config.js';
import { ThreadCalls } from '../threadCalls.js';
import type { AdapterReference } from '../types.js';
import type { LoadedAdapter } from './loadedAdapter.js';

export interface LoadRequest {
  readonly reference: AdapterReference;
  readonly room: ArrayBuffer | undefined;
}

/**
 * Makes adapters ready in a thread of its own. Reading a file takes a dozen turns of the event loop, each of which
 * would wait for a step of the model, and hashing and checking what was read would hold up every answer.
 */
export class AdapterLoader {
  private readonly calls: ThreadCalls<LoadRequest, LoadedAdapter>;

  constructor(config: DecoderConfig) {
    const entry = new URL('./adapterThread.js', import.meta.url);
    this.calls = new ThreadCalls(entry, 'the thread that loads adapters', config);
  }

  /**
   * @param room memory that is handed over, for the adapter if it has its size.
   * @throws EngineError `adapter_damaged`, `adapter_invalid`, `memory_exceeded`, or `cancelled` when the loader is
   * closed, or is closed meanwhile.
   */
  load(reference: AdapterReference, room?: ArrayBuffer): Promise<LoadedAdapter> {
    return this.calls.call({ reference, room }, room === undefined ? [] : [room]);
  }

  close(): Promise<void> {
    return this.calls.close();
  }
}
