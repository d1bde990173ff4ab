import type { CallOptions } from '../engine.js';

/** The running calls of something that can be closed. Its resources are freed only after the last call has ended. */
export class CallGate {
  private readonly underWay = new Map<Promise<unknown>, AbortController>();
  private isClosed = false;

  get closed(): boolean {
    return this.isClosed;
  }

  /** Makes a call. Its signal aborts with the caller's, and when the gate closes. */
  async run<T>({ signal }: CallOptions, call: (options: Required<CallOptions>) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (this.isClosed || signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const running = call({ signal: controller.signal });
    this.underWay.set(running, controller);
    try {
      return await running;
    } finally {
      this.underWay.delete(running);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Aborts the running calls and resolves when they have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const controller of this.underWay.values()) controller.abort();
    await Promise.allSettled(this.underWay.keys());
  }
}
